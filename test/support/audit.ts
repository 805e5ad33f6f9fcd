import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/**
 * Asks the registry of npm for what is known against the packages that the program runs with. Where it does not answer
 * that question, this says so and is no failure: a registry that is away must not keep a mend from being made.
 */

type Advisory = { name: string; severity: string }
export type Verdict = { kind: 'clean' | 'unasked' | 'found'; says: string }

const serious = ['high', 'critical']

/** What `npm audit --json` printed. */
export function judgeAudit(printed: string): Verdict {
  const answer = parsed(printed)
  if (answer?.vulnerabilities === undefined)
    return { kind: 'unasked', says: `not made: ${answer?.message ?? 'npm audit said nothing that is JSON'}` }
  const all = Object.values(answer.vulnerabilities)
  const found = all.filter(({ severity }) => serious.includes(severity))
  if (found.length > 0)
    return { kind: 'found', says: found.map(({ name, severity }) => `${name} (${severity})`).join(', ') }
  return { kind: 'clean', says: `nothing serious is known; ${all.length} lesser` }
}

function parsed(
  text: string,
): { vulnerabilities?: Readonly<Record<string, Advisory>>; message?: string } | null {
  try {
    return JSON.parse(text) as { vulnerabilities?: Record<string, Advisory>; message?: string }
  } catch {
    return null
  }
}

export function audit(environment: NodeJS.ProcessEnv): Verdict {
  const words = ['audit', '--omit=dev', '--json', '--fetch-retries=1', '--fetch-timeout=60000']
  const cwd = join(import.meta.dirname, '../..')
  const { stdout } = spawnSync('npm', words, { cwd, env: environment, encoding: 'utf8' })
  return judgeAudit(stdout)
}

if (import.meta.main) {
  const { kind, says } = audit(process.env)
  process.stdout.write(`audit of dependencies: ${says}\n`)
  if (kind === 'found') process.exitCode = 1
}
