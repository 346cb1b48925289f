// Enumerated attributes that several op families share.

#ifndef DLC_DIALECTS_DL_ENUMS_TD
#define DLC_DIALECTS_DL_ENUMS_TD

include "mlir/IR/EnumAttr.td"
include "dialects/dl/Dl.td"

def Dl_Comparison : I32EnumAttr<"Comparison", "how two elements compare", [
    I32EnumAttrCase<"eq", 0>, I32EnumAttrCase<"lt", 1>,
    I32EnumAttrCase<"le", 2>, I32EnumAttrCase<"gt", 3>,
    I32EnumAttrCase<"ge", 4>]> {
  let cppNamespace = "::dlc::dl";
}

def Dl_PadMode : I32EnumAttr<"PadMode", "what stands outside a padded tensor", [
    I32EnumAttrCase<"constant", 0>, I32EnumAttrCase<"reflect", 1>,
    I32EnumAttrCase<"edge", 2>, I32EnumAttrCase<"wrap", 3>]> {
  let cppNamespace = "::dlc::dl";
}

def Dl_RecurrentKind : I32EnumAttr<"RecurrentKind", "the cell of a recurrent layer", [
    I32EnumAttrCase<"rnn", 0>, I32EnumAttrCase<"gru", 1>, I32EnumAttrCase<"lstm", 2>]> {
  let cppNamespace = "::dlc::dl";
}

def Dl_ReduceKind : I32EnumAttr<"ReduceKind", "how elements are combined", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"mean", 1>,
    I32EnumAttrCase<"prod", 2>, I32EnumAttrCase<"max", 3>,
    I32EnumAttrCase<"min", 4>, I32EnumAttrCase<"sum_square", 5>]> {
  let cppNamespace = "::dlc::dl";
}

def Dl_ScatterMode : I32EnumAttr<"ScatterMode", "what a scattered element does to the one that is there", [
    I32EnumAttrCase<"replace", 0>, I32EnumAttrCase<"add", 1>,
    I32EnumAttrCase<"mul", 2>, I32EnumAttrCase<"min", 3>,
    I32EnumAttrCase<"max", 4>]> {
  let cppNamespace = "::dlc::dl";
}

#endif // DLC_DIALECTS_DL_ENUMS_TD
