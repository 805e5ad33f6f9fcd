import { NotChecked } from './outcome.ts'
import type { Subject } from './subject.ts'

/** What the tests of one run share: paying once serves many of them. */
export type Run = {
  subject: Subject
  /** Does the work the first time it is asked for, and gives everybody the same result. */
  once: <Result>(work: (subject: Subject) => Promise<Result>) => Promise<Result>
}

/** One statement of the interface page, in its words, and the test that it holds. Rejects where it does not. */
export type Fact = { says: string; test: (run: Run) => Promise<void> }

/** A sentence by which the page says what it does not show; `asks` are its single questions, in its words. */
export type Gap = { says: string; asks: readonly string[] }

/** A part of the interface page: what it states, and what it says that it does not show. */
export type Section = { name: string; facts: readonly Fact[]; gaps: readonly Gap[] }

/** For a fact that no call can show. */
export function unseen(reason: string): Fact['test'] {
  return () => Promise.reject(new NotChecked(reason))
}

export function openRun(subject: Subject): Run {
  const done = new Map<unknown, Promise<unknown>>()
  return {
    subject,
    once: (work) => {
      const result = (done.get(work) as ReturnType<typeof work> | undefined) ?? work(subject)
      done.set(work, result)
      return result
    },
  }
}
