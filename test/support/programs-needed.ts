import { execFileSync } from 'node:child_process'

/** Programs that some tests need and npm does not bring. */
export const programs = [
  { name: 'redis-server', debian: 'redis-server', without: 'the queue on Redis is' },
  { name: 'curl', debian: 'curl', without: 'the calls as a shell makes them are' },
  { name: 'promtool', debian: 'prometheus', without: 'the alert rules are' },
  { name: 'amtool', debian: 'prometheus-alertmanager', without: 'the routing of alerts is' },
  { name: 'hledger', debian: 'hledger', without: 'what hledger makes of an export is' },
  { name: 'bean-check', debian: 'beancount', without: 'what Beancount makes of an export is' },
].map((program) => ({ ...program, isInstalled: () => isInstalled(program.name) }))

function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
