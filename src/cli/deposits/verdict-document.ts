import type { LegFacts } from '../../core/decide.ts'
import type { DepositVerdict } from '../../core/judging/reconcile.ts'
import type { Mismatch } from '../../core/mismatch.ts'
import {
  type AmountAsset,
  type AssetLabels,
  amountNamed,
  amountsOfDetail,
  mismatchSentence,
  reportedAmount,
} from '../../presentation/mismatch-words.ts'

/** A verdict as `--json` prints it: every amount in units of its asset and in base units. */
export function verdictDocument(
  { fee, shortfall, mismatches, ...verdict }: DepositVerdict,
  { asset, assets }: AmountAsset,
): object {
  return {
    ...verdict,
    ...amountNamed('fee', fee, { asset, assets }),
    ...amountNamed('shortfall', shortfall, { asset, assets }),
    mismatches: mismatches.map((one) => judgedDocument(one, assets)),
  }
}

export function legDocument(leg: LegFacts | null, assets: AssetLabels): object | null {
  if (leg === null) return null
  const { network, address, tx, asset, amount, fee = null } = leg
  const reported = reportedAmount(asset, amount ?? 0n, assets)
  return {
    network,
    address,
    tx,
    ...(amount === null ? { ...reported, amount, amount_base: amount } : reported),
    ...amountNamed('fee', fee, { asset, assets }),
  }
}

function judgedDocument({ kind, detail, loss }: Mismatch, assets: AssetLabels): object {
  const asset = loss?.asset ?? null
  const said = { kind, detail, loss_asset: asset, assets }
  return {
    kind,
    detail,
    says: mismatchSentence(said),
    amounts: amountsOfDetail(said),
    ...amountNamed('loss', loss?.amount ?? null, { asset, assets }),
    ...amountNamed('loss_of', loss?.whole ?? null, { asset, assets }),
  }
}
