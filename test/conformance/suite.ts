import { type Fact, openRun, type Section } from './fact.ts'
import { Broken, NotChecked } from './outcome.ts'
import { page } from './page.ts'
import type { Subject } from './subject.ts'

export type Verdict =
  | { kind: 'holds' }
  | { kind: 'broken'; problem: string }
  /** Not counted as holding. */
  | { kind: 'not checked'; reason: string }

export type Result = { section: string; says: string; verdict: Verdict }

/** Tests facts of the interface page, all by default, beside each other; returns results in the order of the page. */
export function testFacts(
  subject: Subject,
  isChosen: (fact: Fact) => boolean = () => true,
): Promise<Result[]> {
  const run = openRun(subject)
  const judge = async ({ name }: Section, { says, test }: Fact): Promise<Result> => ({
    section: name,
    says,
    verdict: await test(run).then((): Verdict => ({ kind: 'holds' }), verdictOf),
  })
  return Promise.all(
    page.flatMap((section) => section.facts.filter(isChosen).map((fact) => judge(section, fact))),
  )
}

/** A command that failed or a service that cannot be reached leaves the fact unproved, which is no better than broken. */
function verdictOf(error: unknown): Verdict {
  if (error instanceof NotChecked) return { kind: 'not checked', reason: error.message }
  if (error instanceof Broken) return { kind: 'broken', problem: error.message }
  return { kind: 'broken', problem: error instanceof Error ? error.message : String(error) }
}
