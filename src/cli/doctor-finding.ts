import { lineOf } from '../core/errors.ts'
import { within } from '../jobs/within.ts'

/** What one check found. `mend` says what to run or to set, and is empty where all is well. */
export type Finding = { check: string; state: 'ok' | 'warning' | 'fault'; says: string; mend: string }

export function ok(check: string, says: string): Finding {
  return { check, state: 'ok', says, mend: '' }
}

type Trouble = Omit<Finding, 'state' | 'check'>

export function warning(check: string, trouble: Trouble): Finding {
  return { check, state: 'warning', ...trouble }
}

export function fault(check: string, trouble: Trouble): Finding {
  return { check, state: 'fault', ...trouble }
}

/** Longer than all the attempts of a request that is answered at all. */
const checkMaxMs = 60_000

/** What `ask` finds; where it throws, a fault with that mend. */
export async function examined(
  check: string,
  mend: string,
  ask: () => Promise<Finding | readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return [await within(checkMaxMs, check, ask())].flat()
  } catch (error) {
    return [fault(check, { says: lineOf(error), mend })]
  }
}
