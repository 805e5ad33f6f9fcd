import { lineOf } from '../core/errors.ts'

/** The result of one check of a bundle. `not done` proves nothing, and is not a failure. */
export type BundleCheck = { check: string; outcome: 'passed' | 'failed' | 'not done'; says: string }

/** The problems that a check found; empty if it passed. */
export type Problems = readonly string[]

export function judged(check: string, problems: Problems, proved: string): BundleCheck {
  return problems.length === 0
    ? { check, outcome: 'passed', says: proved }
    : { check, outcome: 'failed', says: reported(problems) }
}

export function notDone(check: string, says: string): BundleCheck {
  return { check, outcome: 'not done', says }
}

/** A document may contain anything, so an error thrown during a check is a problem of the document. */
export function checked(check: string, proved: string, find: () => Problems): BundleCheck {
  try {
    return judged(check, find(), proved)
  } catch (error) {
    return judged(check, [lineOf(error)], proved)
  }
}

const reportedMax = 5

function reported(problems: Problems): string {
  const more = problems.length - reportedMax
  return [...problems.slice(0, reportedMax), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
