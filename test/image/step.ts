import { readText } from '../docs/pages.ts'

/** Thrown when this machine cannot run a step. */
export class CannotRun extends Error {}

/** Steps that may be left out, also in CI: the rows of that table in docs/internals/ci.md. */
const mayBeLeftOut = [...readText('docs/internals/ci.md').matchAll(/^\| `([\w -]+)` \| not run: /gm)].map(
  ([, name = '']) => name,
)

const say = (outcome: string) => void process.stdout.write(`${outcome}\n`)

/** Runs one step and prints how it went; null if this machine cannot run it. In CI that fails the command, unless the docs list the step. */
export async function step<Result>(
  name: string,
  work: () => Result | Promise<Result>,
): Promise<Result | null> {
  const startedAt = Date.now()
  try {
    const result = await work()
    say(`ok        ${name} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`)
    return result
  } catch (error) {
    if (!(error instanceof CannotRun)) {
      say(`FAILED    ${name}`)
      throw error
    }
    const isListed = mayBeLeftOut.includes(name)
    say(
      `left out  ${name}: ${error.message}${isListed ? '' : '; docs/internals/ci.md does not list this step'}`,
    )
    if (!isListed && process.env.CI === 'true') process.exitCode = 1
    return null
  }
}
