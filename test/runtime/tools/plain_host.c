/* A host that links nothing and takes the runtime as a plug-in, as other languages do:
 * what kernels need (libm) must come with the runtime, not by luck with the host.
 * plain-host RUNTIME.so MODEL.dlc: exit 0 if the model loads. */

#include <dlfcn.h>
#include <stdio.h>

typedef struct status status;
typedef struct model model;

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  void *runtime = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (!runtime) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  status *(*load)(const char *, const void *, model **) =
      (status * (*)(const char *, const void *, model **)) dlsym(runtime, "dlc_model_load");
  const char *(*message)(const status *) =
      (const char *(*)(const status *))dlsym(runtime, "dlc_status_message");
  void (*release)(model *) = (void (*)(model *))dlsym(runtime, "dlc_model_free");
  if (!load || !message || !release)
    return 1;
  model *loaded = NULL;
  status *failure = load(argv[2], NULL, &loaded);
  if (failure) {
    fprintf(stderr, "%s\n", message(failure));
    return 1;
  }
  release(loaded);
  return 0;
}
