/* dlc runtime, public C API.
 *
 * A model is compiled by `dlc compile` into one `.dlc` artifact; this library
 * loads and runs it. It needs neither the compiler nor LLVM.
 *
 *   dlc_model *model = NULL;
 *   dlc_status *status = dlc_model_load("m.dlc", NULL, &model);
 *   if (status) { fprintf(stderr, "%s\n", dlc_status_message(status)); ... }
 *
 * Errors: every fallible call returns NULL on success, else a status that the
 * caller frees with dlc_status_free(). Nothing here aborts on bad input.
 *
 * Threads: but for its states (below) a dlc_model is immutable after loading. Any number of threads may
 * call dlc_model_run() on one model at the same time; every thread gets the
 * same bits. A dlc_tensor belongs to one thread at a time.
 *
 * Memory: tensors are dense, row-major, 64-byte aligned when made here. int4
 * kinds are packed two to a byte, low nibble first.
 */
#ifndef DLC_DLC_H
#define DLC_DLC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLC_API __attribute__((visibility("default")))
#define DLC_MAX_RANK 8

typedef struct dlc_status dlc_status;
typedef struct dlc_model dlc_model;
typedef struct dlc_tensor dlc_tensor;

/* The `dlc` command exits with these numbers. */
typedef enum dlc_code {
  DLC_OK = 0,
  DLC_INTERNAL = 1,
  DLC_USAGE = 2,       /* bad argument, shape, type, or a broken file */
  DLC_UNSUPPORTED = 3, /* well-formed, but this build or machine cannot run it */
  DLC_MISMATCH = 4,    /* results differ from the expected ones */
  DLC_OUT_OF_MEMORY = 5,
  DLC_DEVICE = 6
} dlc_code;

typedef enum dlc_type { /* same order as schema ElementType */
  DLC_F32, DLC_F64, DLC_F16, DLC_BF16,
  DLC_F8E4M3FN, DLC_F8E4M3FNUZ, DLC_F8E5M2, DLC_F8E5M2FNUZ,
  DLC_I4, DLC_U4, DLC_I8, DLC_U8, DLC_I16, DLC_U16,
  DLC_I32, DLC_U32, DLC_I64, DLC_U64, DLC_BOOL
} dlc_type;

/* --- status --- */
DLC_API dlc_code dlc_status_code(const dlc_status *status); /* NULL: DLC_OK */
DLC_API const char *dlc_status_message(const dlc_status *status);
DLC_API void dlc_status_free(dlc_status *status);

/* --- tensors --- */
/* Bytes of a dense tensor, or -1 if that overflows. */
DLC_API int64_t dlc_type_size_bytes(dlc_type type, const int64_t *dims, int rank);
DLC_API const char *dlc_type_name(dlc_type type); /* "f32" */

/* Uninitialised memory owned by the tensor. */
DLC_API dlc_status *dlc_tensor_create(dlc_type type, const int64_t *dims,
                                      int rank, dlc_tensor **tensor);
/* Wraps the caller's memory, which must outlive the tensor. */
DLC_API dlc_status *dlc_tensor_wrap(dlc_type type, const int64_t *dims, int rank,
                                    void *data, size_t size_bytes,
                                    dlc_tensor **tensor);
DLC_API void dlc_tensor_free(dlc_tensor *tensor);
DLC_API dlc_type dlc_tensor_type(const dlc_tensor *tensor);
DLC_API int dlc_tensor_rank(const dlc_tensor *tensor);
DLC_API const int64_t *dlc_tensor_dims(const dlc_tensor *tensor);
DLC_API void *dlc_tensor_data(const dlc_tensor *tensor);
DLC_API int64_t dlc_tensor_size_bytes(const dlc_tensor *tensor);

/* --- models --- */
typedef struct dlc_load_options {
  size_t struct_bytes;  /* sizeof(dlc_load_options): lets the struct grow */
  int threads;          /* 0: the affinity mask, bounded by the cgroup quota */
  bool verify_hash;     /* read the whole file and check its hash */
  const char *device;   /* NULL or "cpu"; "cuda", "cuda:1"; "cuda-sim" */
  const char *cache_dir; /* keeps code that has to be compiled for the device;
                          * NULL: compiled at every load */
} dlc_load_options;

DLC_API dlc_status *dlc_model_load(const char *path,
                                   const dlc_load_options *options,
                                   dlc_model **model);
/* The bytes must outlive the model and be page aligned. */
DLC_API dlc_status *dlc_model_load_memory(const void *data, size_t size_bytes,
                                          const dlc_load_options *options,
                                          dlc_model **model);
DLC_API void dlc_model_free(dlc_model *model);

/* Of an index or axis that does not exist: the name is NULL, the type unknown,
 * the rank -1. */
DLC_API size_t dlc_model_input_count(const dlc_model *model);
DLC_API size_t dlc_model_output_count(const dlc_model *model);
DLC_API const char *dlc_model_input_name(const dlc_model *model, size_t index);
DLC_API const char *dlc_model_output_name(const dlc_model *model, size_t index);
DLC_API dlc_type dlc_model_input_type(const dlc_model *model, size_t index);
DLC_API dlc_type dlc_model_output_type(const dlc_model *model, size_t index);
/* Writes the rank and, per axis, the size or -1 where it is symbolic. */
DLC_API int dlc_model_input_dims(const dlc_model *model, size_t index,
                                 int64_t dims[DLC_MAX_RANK]);
DLC_API int dlc_model_output_dims(const dlc_model *model, size_t index,
                                  int64_t dims[DLC_MAX_RANK]);
/* The axis as text: "64", "N", "N*2". Valid as long as the model. */
DLC_API const char *dlc_model_input_dim_name(const dlc_model *model,
                                             size_t index, int axis);
DLC_API const char *dlc_model_output_dim_name(const dlc_model *model,
                                              size_t index, int axis);
DLC_API int dlc_model_threads(const dlc_model *model);
/* Planned memory for these symbol-free parts: arena and weights, in bytes. */
DLC_API int64_t dlc_model_arena_bytes(const dlc_model *model);
DLC_API int64_t dlc_model_weight_bytes(const dlc_model *model);

/* --- profiling --- */
typedef struct dlc_profile_entry {
  const char *kernel;  /* valid as long as the model */
  const char *nodes;   /* comma-separated ONNX nodes */
  double start_us, duration_us; /* since the start of the run */
  double flops;        /* 0: unknown */
} dlc_profile_entry;
typedef void (*dlc_profile_fn)(void *user, const dlc_profile_entry *entry);

typedef struct dlc_run_options {
  size_t struct_bytes;
  dlc_profile_fn profile; /* called once per dispatch, in order; may be NULL */
  void *profile_user;
} dlc_run_options;

/* Runs the model. `inputs` follow the model's input order. For each output,
 * outputs[i] is either a caller's tensor of the right type and size, which is
 * filled, or NULL, and then a new tensor is put there that the caller frees.
 * After the first run of a shape, a run with caller-owned outputs allocates
 * nothing. On error no output is made. */
DLC_API dlc_status *dlc_model_run(dlc_model *model, dlc_tensor *const *inputs,
                                  size_t input_count, dlc_tensor **outputs,
                                  size_t output_count,
                                  const dlc_run_options *options);

/* --- entries and states --- */
/* An artifact may hold several programs over the same weights, as training does:
 * "infer", "train_step", ... The handle that dlc_model_load() gives is the first. */
DLC_API size_t dlc_model_entry_count(const dlc_model *model);
DLC_API const char *dlc_model_entry_name(const dlc_model *model, size_t index);
/* A handle to another entry. It shares weights, states and threads with `model`; both
 * are freed with dlc_model_free(), in any order. */
DLC_API dlc_status *dlc_model_entry(const dlc_model *model, const char *name,
                                    dlc_model **entry);

/* States are tensors that live from run to run and that all entries share:
 * parameters, moments of an optimizer, running statistics, counters. A run that
 * changes them has them to itself; others wait. They live on the model's device. When
 * such a run fails in the midst of it, states may hold values of before and after. */
DLC_API size_t dlc_model_state_count(const dlc_model *model);
DLC_API const char *dlc_model_state_name(const dlc_model *model, size_t index);
/* "parameter", "moment", "statistic", "gradient", "average",
 * "counter" or "scale". */
DLC_API const char *dlc_model_state_role(const dlc_model *model, size_t index);
DLC_API dlc_type dlc_model_state_type(const dlc_model *model, size_t index);
DLC_API int dlc_model_state_dims(const dlc_model *model, size_t index,
                                 int64_t dims[DLC_MAX_RANK]);
/* Copies a state into *tensor, which is made when it is NULL. */
DLC_API dlc_status *dlc_model_read_state(dlc_model *model, const char *name,
                                         dlc_tensor **tensor);
DLC_API dlc_status *dlc_model_write_state(dlc_model *model, const char *name,
                                          const dlc_tensor *tensor);
/* Back to the values that the artifact holds. */
DLC_API dlc_status *dlc_model_reset_states(dlc_model *model);

DLC_API const char *dlc_version(void);

/* --- artifacts, for tools that look into them --- */
typedef struct dlc_artifact dlc_artifact;
/* Maps an artifact and checks it as loading does, its hash included, but loads
 * no machine code: also for artifacts that this machine cannot run. */
DLC_API dlc_status *dlc_artifact_open(const char *path, dlc_artifact **artifact);
DLC_API void dlc_artifact_free(dlc_artifact *artifact);
/* The whole file. */
DLC_API const void *dlc_artifact_data(const dlc_artifact *artifact);
DLC_API size_t dlc_artifact_size_bytes(const dlc_artifact *artifact);
/* The checked FlatBuffers root within it: a dlc::schema::Artifact (artifact.fbs). */
DLC_API const void *dlc_artifact_table(const dlc_artifact *artifact);

/* Threads that this process may use: its affinity mask, bounded by the cgroup's
 * quota. What a model gets when its load options ask for 0. */
DLC_API int dlc_available_threads(void);

#ifdef __cplusplus
}
#endif
#endif /* DLC_DLC_H */
