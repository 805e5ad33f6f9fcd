import { isQuota } from '../refusals.ts'
import { isPastStateGone } from './past-state.ts'

/** How nodes say that a method is there and the first block is nothing to trace. */
const untraceable = [
  // go-ethereum and Nethermind
  /genesis is not traceable/i,
  // Erigon
  /\bblock \S+ not found/i,
]

/** How nodes and providers say that a method is not there, or not for this customer. */
const lacking = [
  /code -32601/,
  /method .*\bnot (?:found|available|supported|allowed|enabled|whitelisted)/i,
  /method .*(?:does not exist|disabled)/i,
  /\b(?:unsupported|unknown) method/i,
  /\bnot (?:available|supported) (?:on|for|in|with) /i,
  /\b(?:upgrade|plan|tier|add-?on)\b/i,
]

/**
 * Whether a node that refused to trace the first block offers to trace others. Null where that says nothing of it: the
 * node may be asked again.
 */
export function offerIn(problem: string): boolean | null {
  if (isQuota(200, { code: 0, message: problem })) return null
  if (isPastStateGone(problem) || untraceable.some((words) => words.test(problem))) return true
  return lacking.some((words) => words.test(problem)) ? false : null
}
