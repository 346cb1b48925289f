// Dialect `plan`: when and where a program runs. One to one with the artifact
// schema (runtime/schema/artifact.fbs).

#ifndef DLC_DIALECTS_PLAN_PLAN_TD
#define DLC_DIALECTS_PLAN_PLAN_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::dlc::plan";
  let summary = "Buffers, their places in memory, and the order of work.";
  let description = [{
    A `plan.program` declares symbols, buffers and then instructions in the
    order in which they run. Buffers are SSA values of tensor type; their sizes
    are affine maps over the program's symbols. Text in this dialect is what
    the artifact holds, so memory plans and schedules can be tested as text.
  }];
  let useDefaultAttributePrinterParser = 1;
}

def Plan_NodeAttr : AttrDef<Plan_Dialect, "Node"> {
  let mnemonic = "node";
  let summary = "A node of the model that the program came from: its name and its op.";
  let parameters = (ins StringRefParameter<>:$name, StringRefParameter<>:$op);
  let assemblyFormat = "`<` $name `,` $op `>`";
}

class Plan_Op<string mnemonic, list<Trait> traits = []>
    : Op<Plan_Dialect, mnemonic, traits>;

def Plan_Storage : I32EnumAttr<"Storage", "where a buffer's memory comes from", [
    I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Output", 1, "output">,
    I32EnumAttrCase<"Constant", 2, "constant">, I32EnumAttrCase<"Arena", 3, "arena">,
    I32EnumAttrCase<"Alias", 4, "alias">, I32EnumAttrCase<"State", 5, "state">]> {
  let cppNamespace = "::dlc::plan";
}

def Plan_ProgramOp : Plan_Op<"program", [IsolatedFromAbove, NoTerminator, SingleBlock]> {
  let summary = "A whole model: what the artifact holds.";
  let description = [{
    An artifact may hold several, told apart by their `entry`. They share kernels,
    constants and states.

    `arena_bytes` and `arena_lower_bound` are written by `plan-assign-memory`:
    the bytes of the static part of the arena, and the most that are live at
    once, below which no plan can go.

    Example:
    ```mlir
    plan.program "relu" {
      plan.symbol "N" [1, 64]
      %x = plan.buffer "x" input affine_map<()[s0] -> (s0, 3)> : tensor<?x3xf32>
      %y = plan.buffer "y" output affine_map<()[s0] -> (s0, 3)> : tensor<?x3xf32>
      plan.dispatch "relu_0" ins(%x : tensor<?x3xf32>) outs(%y : tensor<?x3xf32>)
        sizes affine_map<()[s0] -> (s0)> nodes [#plan.node<"/relu", "Relu">]
      plan.outputs %y : tensor<?x3xf32>
    }
    ```
  }];
  let hasVerifier = 1;
  let arguments = (ins StrAttr:$name, OptionalAttr<I64Attr>:$arena_bytes,
                       OptionalAttr<I64Attr>:$arena_lower_bound, OptionalAttr<StrAttr>:$entry);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name (`entry` $entry^)? attr-dict-with-keyword $body";
}

def Plan_SymbolOp : Plan_Op<"symbol"> {
  let summary = "Declares the next symbol, with the bounds of its value.";
  let arguments = (ins StrAttr:$name, I64Attr:$lower, I64Attr:$upper);
  let assemblyFormat = "$name `[` $lower `,` $upper `]` attr-dict";
}

def Plan_ConstraintOp : Plan_Op<"constraint"> {
  let summary = "Two sizes that every run must find equal.";
  let hasVerifier = 1;
  let arguments = (ins AffineMapAttr:$sizes, StrAttr:$reason);
  let assemblyFormat = "$sizes $reason attr-dict";
}

def Plan_BufferOp : Plan_Op<"buffer"> {
  let summary = "Declares a buffer.";
  let description = [{
    `dims` has one result per axis. A constant carries its `value`; an alias
    names its `base`; an arena buffer gets an `offset` when its size is static.
    A state is the model's own and lives from run to run: all entries' states of
    one name are one, with the initial `value` (zeros without) and for tools a `role`.
  }];
  let hasVerifier = 1;
  let arguments = (ins StrAttr:$name, Plan_Storage:$storage, AffineMapAttr:$dims,
                       Optional<AnyRankedTensor>:$base, OptionalAttr<ElementsAttr>:$value,
                       OptionalAttr<I64Attr>:$offset, OptionalAttr<StrAttr>:$role);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $name $storage (`role` $role^)? $dims (`of` $base^ `:` type($base) `as`)? (`value` `=` $value^)?
    (`at` $offset^)? attr-dict `:` type($result)
  }];
}

def Plan_DispatchOp : Plan_Op<"dispatch", [AttrSizedOperandSegments]> {
  let summary = "Runs one kernel.";
  let description = [{
    `sizes` are what the kernel is told, `nodes` the ONNX nodes it stands for.
    `inplace` lists pairs (input, output) that may share memory because the
    kernel reads each element before it writes it.
  }];
  let hasVerifier = 1;
  let arguments = (ins StrAttr:$kernel, Variadic<AnyRankedTensor>:$inputs,
                       Variadic<AnyRankedTensor>:$outputs, AffineMapAttr:$sizes,
                       ArrayAttr:$nodes, OptionalAttr<DenseI64ArrayAttr>:$inplace,
                       OptionalAttr<AffineMapAttr>:$flops);
  let assemblyFormat = [{
    $kernel (`ins` `(` $inputs^ `:` type($inputs) `)`)? `outs` `(` $outputs `:` type($outputs) `)`
    `sizes` $sizes `nodes` $nodes (`inplace` $inplace^)? (`flops` $flops^)? attr-dict
  }];
}

def Plan_CopyOp : Plan_Op<"copy"> {
  let summary = "Copies a buffer into another of the same size.";
  let hasVerifier = 1;
  let arguments = (ins AnyRankedTensor:$source, AnyRankedTensor:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `,` type($target)";
}

def Plan_BindSymbolOp : Plan_Op<"bind_symbol"> {
  let summary = "Gives a symbol the value of one element of an integer buffer.";
  let hasVerifier = 1;
  let arguments = (ins I64Attr:$symbol, AnyRankedTensor:$source, I64Attr:$index);
  let assemblyFormat = "$symbol `=` $source `[` $index `]` attr-dict `:` type($source)";
}

def Plan_CheckIndicesOp : Plan_Op<"check_indices"> {
  let summary = "Fails unless every element lies in [lower, upper).";
  let hasVerifier = 1;
  let arguments = (ins AnyRankedTensor:$source, AffineMapAttr:$bounds, ArrayAttr:$nodes);
  let assemblyFormat = "$source `in` $bounds `nodes` $nodes attr-dict `:` type($source)";
}

def Plan_IfOp : Plan_Op<"if", [NoTerminator, SingleBlock]> {
  let summary = "Runs one of two lists of instructions.";
  let description = [{
    Both lists leave the results in the same buffers.
  }];
  let hasVerifier = 1;
  let arguments = (ins AnyRankedTensor:$condition);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let assemblyFormat = "$condition attr-dict `:` type($condition) $then_region `else` $else_region";
}

def Plan_LoopOp : Plan_Op<"loop", [NoTerminator, SingleBlock, AttrSizedOperandSegments]> {
  let summary = "Repeats instructions.";
  let description = [{
    Runs `body` while `condition` holds and `trip` is not reached; `counter` is the
    number of the iteration. After each one, slice <counter> of `scan_to` becomes
    `scan_from`, `condition` becomes `next_condition`, `carried_to` becomes
    `carried_from`, in this order.
  }];
  let hasVerifier = 1;
  let arguments = (ins AnyRankedTensor:$counter, Optional<AnyRankedTensor>:$trip,
                       AnyRankedTensor:$condition, AnyRankedTensor:$next_condition,
                       Variadic<AnyRankedTensor>:$carried_from, Variadic<AnyRankedTensor>:$carried_to,
                       Variadic<AnyRankedTensor>:$scan_from, Variadic<AnyRankedTensor>:$scan_to);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `counter` $counter (`trip` $trip^)? `while` $condition `next` $next_condition
    (`carries` $carried_from^ `to` $carried_to)? (`scans` $scan_from^ `to` $scan_to)? attr-dict
    `:` functional-type(operands, results) $body
  }];
}

def Plan_OutputsOp : Plan_Op<"outputs"> {
  let summary = "The model's outputs, in order.";
  let hasVerifier = 1;
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif // DLC_DIALECTS_PLAN_PLAN_TD
