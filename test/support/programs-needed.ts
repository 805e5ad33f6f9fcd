import { spawnSync } from 'node:child_process'

/** Programs that some tests need and npm does not bring. */
const programs = {
  'redis-server': { debian: 'redis-server', without: 'the queue on Redis is' },
  curl: { debian: 'curl', without: 'the calls as a shell makes them are' },
  promtool: {
    debian: 'prometheus',
    without: 'the alert rules, and dashboards beside a real Prometheus, are',
  },
  amtool: { debian: 'prometheus-alertmanager', without: 'the routing of alerts is' },
  hledger: { debian: 'hledger', without: 'what hledger makes of an export is' },
  openssl: { debian: 'openssl', without: "TLS by an authority of one's own is" },
  pg_dump: {
    debian: 'postgresql-client-18',
    without: 'the restoring of a dump is',
    says: / (1[89]|[2-9]\d)\./,
  },
  pg_basebackup: {
    debian: 'postgresql-client-18',
    without: 'a base backup by pg_basebackup, and not by the calls it makes, is',
    says: / (1[89]|[2-9]\d)\./,
  },
  psql: { debian: 'postgresql-client-18', without: 'the lines of the page on backups are' },
  'chromium-headless-shell': {
    debian: 'chromium-headless-shell',
    without: 'the console in a real browser is',
  },
  python3: { debian: 'python3', without: 'the consumer of events in Python is' },
  aiosmtpd: { debian: 'python3-aiosmtpd', without: 'e-mail to a real server is' },
  'bean-check': { debian: 'beancount', without: 'what Beancount makes of an export is' },
} as const satisfies Record<string, ProgramNeeded>

/** `says`: of which version it has to be, in its own words; any without it. */
type ProgramNeeded = { debian: string; without: string; says?: RegExp }

export type Program = keyof typeof programs

/** Those that are missing. */
export function missingPrograms(): (ProgramNeeded & { name: string })[] {
  return Object.entries(programs)
    .map(([name, program]) => ({ name, ...program }))
    .filter(({ name }) => !answers(name as Program))
}

/** @throws Error that names the Debian package where a program is missing. */
export function needProgram(program: Program): void {
  if (answers(program)) return
  const { debian } = programs[program]
  throw new Error(
    `${program} is not installed; it is in Debian's package ${debian}: apt-get install ${debian}`,
  )
}

/** False where a program is missing. In CI it must be there. */
export function isInstalled(program: Program): boolean {
  const installed = answers(program)
  if (!installed && process.env.CI === 'true')
    throw new Error(
      `CI needs ${program}: apt-get install --no-install-recommends ${programs[program].debian}`,
    )
  return installed
}

function answers(program: Program): boolean {
  const { says = /^/ }: ProgramNeeded = programs[program]
  // The first is what all but openssl understand.
  return ['--version', 'version'].some((word) => {
    const { status, stdout } = spawnSync(program, [word], { encoding: 'utf8' })
    return status === 0 && says.test(stdout)
  })
}
