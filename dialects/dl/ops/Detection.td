// Selection of boxes.

#ifndef DLC_DIALECTS_DL_OPS_DETECTION_TD
#define DLC_DIALECTS_DL_OPS_DETECTION_TD

include "dialects/dl/ops/LinalgOp.td"

def Dl_NonMaxSuppressionOp : Dl_LinalgOp<"non_max_suppression", [
    DeclareOpInterfaceMethods<Dl_LowersToLinalg, ["lowerToLinalg"]>]> {
  let summary = "The best boxes of every class that do not overlap better ones.";
  let description = [{
    For every batch entry and class, boxes in the order of their scores (the
    lower index first on ties) that exceed `score_threshold`, and whose overlap
    (intersection over union) with no box selected before exceeds
    `overlap_threshold`; at most `limit` of them. A row of `selected` is batch,
    class, box; `count` says how many rows are used, the others are 0. A box is
    two corners, or its centre and size when `is_centered`.

    Constraints:
      C1. `boxes` is B x N x 4 and `scores` B x C x N, both f32
      C2. `limit` is an i64 vector of one element; the thresholds are f32 scalars

    Example:
    ```mlir
    %s, %n = dl.non_max_suppression %b, %p, %k, %o, %t
      : (tensor<1x6x4xf32>, tensor<1x1x6xf32>, tensor<1xi64>, tensor<f32>, tensor<f32>)
      -> (tensor<6x3xi64>, tensor<1xi64>)
    ```
  }];
  let arguments = (ins AnyRankedTensor:$boxes, AnyRankedTensor:$scores, AnyRankedTensor:$limit,
                       AnyRankedTensor:$overlap_threshold, AnyRankedTensor:$score_threshold,
                       UnitAttr:$is_centered);
  let results = (outs AnyRankedTensor:$selected, AnyRankedTensor:$count);
}

#endif // DLC_DIALECTS_DL_OPS_DETECTION_TD
