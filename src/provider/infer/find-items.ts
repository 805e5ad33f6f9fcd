import { columnsOf, isObject, valueAt } from './columns.ts'
import {
  concernsDeposit,
  findFields,
  findRecord,
  likeness,
  listingIn,
  listPaths,
  recordsAt,
  tellingFields,
} from './find-records.ts'
import type { Hints } from './hints.ts'
import type { Samples } from './infer-profile.ts'

/** Captures may come from attackers. */
const listsMax = 20
const itemsMax = 2000

/**
 * If webhooks hold their records in a list, each item counts as a webhook, and `items` is the path of the list. A list
 * inside a record, such as that of its transfers, is not one.
 */
export function samplesInItems({ payloads, answers }: Samples, hints: Hints): Samples {
  const whole = { payloads, answers }
  const lists = new Set(payloads.flatMap((payload) => listPaths(payload)).filter((path) => path !== ''))
  const splits = [...lists]
    .slice(0, listsMax)
    .map((items) => ({ items, payloads: itemsAt(payloads, items), answers }))
    .filter((split) => split.payloads.length > 0)
  const listed = answers.flatMap((answer) => listingIn(answer)?.records ?? [answer])
  if (listed.length === 0) return splits.find((split) => holdsDeposits(split, payloads, hints)) ?? whole
  const [best] = splits
    .map((split) => ({ split, likeness: likenessOf(split, listed, hints) }))
    .toSorted((one, other) => other.likeness - one.likeness)
  const isBest = best !== undefined && best.likeness > Math.max(0.5, likenessOf(whole, listed, hints))
  return isBest ? best.split : whole
}

/** The newest come last. */
function itemsAt(payloads: readonly unknown[], items: string): unknown[] {
  const found = payloads.flatMap((payload) => {
    const list = valueAt(payload, items)
    return Array.isArray(list) ? list.filter(isObject) : []
  })
  return found.slice(-itemsMax)
}

/** Of the best record of the webhooks, from 0 to 1. */
function likenessOf({ payloads }: Samples, listed: readonly unknown[], hints: Hints): number {
  const paths = new Set(columnsOf(listed).map(({ path }) => path))
  const columns = columnsOf(recordsAt(payloads, findRecord(payloads, listed, hints)))
  return columns.length === 0 ? 0 : likeness(columns, paths)
}

/** An item has all fields by which a deposit is recognised, and the rest of the payload none of them. */
function holdsDeposits({ payloads, items }: Samples, whole: readonly unknown[], hints: Hints): boolean {
  const around = columnsOf(whole).filter(({ path }) => !path.startsWith(`${items}.`))
  const outside = findFields(around, hints)
  return (
    concernsDeposit(columnsOf(recordsAt(payloads, findRecord(payloads, [], hints))), hints) &&
    !tellingFields.some((field) => outside.has(field))
  )
}
