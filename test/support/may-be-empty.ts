/** What a demonstration shows nothing of, for a reason. Named as a query is, or by the beginning of that name. */
export type MayBeEmpty = { where: string; why: string }

export const mayBeEmpty: readonly MayBeEmpty[] = []

/** The entry that allows a query to find nothing. */
export function allowanceFor(where: string): MayBeEmpty | null {
  return mayBeEmpty.find((one) => where === one.where || where.startsWith(`${one.where} / `)) ?? null
}
