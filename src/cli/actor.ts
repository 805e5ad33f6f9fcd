import { policyName } from '../core/evidence.ts'
import { badValue, textOf, wrongUse } from './options.ts'

const noPeople = new Set(['nobody', 'depositd', policyName])

/** @throws Fault `usage_bad` */
export function nameOf(what: string, text: string): string {
  const name = textOf(what, text)
  if (name.length <= 100 && !/\p{C}/u.test(name) && !noPeople.has(name)) return name
  throw badValue(what, name, 'give the name of a person, at most 100 characters')
}

/** @throws Fault `usage_bad` */
export function mismatchIds(words: readonly string[]): bigint[] {
  const odd = words.filter((word) => !/^\d{1,18}$/.test(word))
  if (odd.length === 0 && words.length > 0) return words.map((word) => BigInt(word))
  const problem = words.length === 0 ? 'no mismatch given' : `${odd.join(', ')} is not a mismatch number`
  throw wrongUse(problem, 'use a number from "bin/depositd mismatches list"')
}
