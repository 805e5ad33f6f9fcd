import { lineOf } from '../core/errors.ts'

/** What one check of a bundle found. `not done` proves nothing, and is no fault. */
export type BundleCheck = { check: string; outcome: 'passed' | 'failed' | 'not done'; says: string }

/** What a check found wrong; none where it passed. */
export type Problems = readonly string[]

export function judged(check: string, problems: Problems, proved: string): BundleCheck {
  return problems.length === 0
    ? { check, outcome: 'passed', says: proved }
    : { check, outcome: 'failed', says: told(problems) }
}

export function notDone(check: string, says: string): BundleCheck {
  return { check, outcome: 'not done', says }
}

/** A document may hold anything: what a check stumbles over is a problem of the document. */
export function checked(check: string, proved: string, find: () => Problems): BundleCheck {
  try {
    return judged(check, find(), proved)
  } catch (error) {
    return judged(check, [lineOf(error)], proved)
  }
}

const toldMax = 5

function told(problems: Problems): string {
  const more = problems.length - toldMax
  return [...problems.slice(0, toldMax), ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
}
