import { lineOf } from '../../core/errors.ts'
import { within } from '../../jobs/within.ts'

/** The result of one check. `mend` says what to run or to set, and is empty if all is well. */
export type DoctorFinding = { check: string; state: 'ok' | 'warning' | 'fault'; says: string; fix: string }

export function ok(check: string, says: string): DoctorFinding {
  return { check, state: 'ok', says, fix: '' }
}

type FindingDetail = Omit<DoctorFinding, 'state' | 'check'>

export function warning(check: string, trouble: FindingDetail): DoctorFinding {
  return { check, state: 'warning', ...trouble }
}

export function fault(check: string, trouble: FindingDetail): DoctorFinding {
  return { check, state: 'fault', ...trouble }
}

/** Time limit of one request of a check. It is sent once. */
export const requestMaxMs = 5000
/** Time limit of one check with all its requests. */
export const checkMaxMs = 10_000

/** Runs `ask` and returns its findings. If it throws, returns a fault with the advice for that problem. */
export async function examined(
  check: string,
  advice: string | ((problem: string) => string),
  ask: () => Promise<DoctorFinding | readonly DoctorFinding[]>,
): Promise<readonly DoctorFinding[]> {
  try {
    return [await within(checkMaxMs, check, ask())].flat()
  } catch (error) {
    const says = lineOf(error)
    return [fault(check, { says, fix: typeof advice === 'string' ? advice : advice(says) })]
  }
}
