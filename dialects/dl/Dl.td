// Dialect `dl`: the tensor-level vocabulary every other part of dlc speaks.

#ifndef DLC_DIALECTS_DL_DL_TD
#define DLC_DIALECTS_DL_DL_TD

include "mlir/IR/OpBase.td"

def Dl_Dialect : Dialect {
  let name = "dl";
  let cppNamespace = "::dlc::dl";
  let summary = "Deep-learning operations on immutable tensors.";
  let description = [{
    Every op is a function of immutable tensors. Element types: f32 f64 f16
    bf16, 8-bit floats, i8..i64 (signed), ui8..ui64 (unsigned), i1 (bool).
    A size that is not static (`?`) is a polynomial over named symbols that
    `ShapeAnalysis` derives through the InferType interface.
  }];
  let hasConstantMaterializer = 1;
  let extraClassDeclaration = [{
    /// Each op family registers its own ops.
    template <typename... Ops>
    void addFamily() { addOperations<Ops...>(); }
  }];
}

class Dl_Op<string mnemonic, list<Trait> traits = []>
    : Op<Dl_Dialect, mnemonic, traits>;

#endif // DLC_DIALECTS_DL_DL_TD
