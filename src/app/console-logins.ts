import type { Settings } from '../config/settings.ts'
import { type ConsoleUser, may } from '../ops/console/people.ts'
import { type Database, openDatabase } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'

type ReaderRole = 'depositd_viewer' | 'depositd_operator' | 'depositd_auditor'

/** Connections with the rights of the person at the page: what a page lets the wrong person do, Postgres refuses. */
export type ReaderLogins = {
  toWork: (user: ConsoleUser) => Database<Tables>
  toAudit: (user: ConsoleUser) => Database<Tables>
}

const poolMax = 2
const [queryMaxMs, decisionMaxMs] = [10_000, 60_000]

/** A pool for each role, which connects at its first use. */
export function openReaderLogins(databaseUrl: string): ReaderLogins & AsyncDisposable {
  const pools = new Map<ReaderRole, Database<Tables>>()
  const as = (role: ReaderRole): Database<Tables> => {
    const open = () =>
      openDatabase<Tables>({
        url: databaseUrl,
        poolMax,
        applicationName: `depositd console, ${role}`,
        role,
        queryTimeoutMs: queryMaxMs,
      })
    const pool = pools.get(role) ?? open()
    pools.set(role, pool)
    return pool
  }
  return {
    toWork: (user) => as(may(user, 'work on cases') ? 'depositd_operator' : 'depositd_viewer'),
    toAudit: (user) => as(may(user, 'see the audit log') ? 'depositd_auditor' : 'depositd_viewer'),
    async [Symbol.asyncDispose]() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()))
    },
  }
}

/** Of sessions, and of decisions, which are carried out only by signatures. */
export function openPeopleLogins({ databaseUrl, people }: Settings) {
  return {
    db: openDatabase<Tables>({
      url: databaseUrl,
      poolMax,
      applicationName: 'depositd sign-in',
      role: 'depositd_daemon',
      queryTimeoutMs: queryMaxMs,
    }),
    decider: openDatabase<Tables>({
      url: people.databaseUrl ?? databaseUrl,
      poolMax,
      applicationName: 'depositd decisions',
      role: 'depositd_decider',
      queryTimeoutMs: decisionMaxMs,
    }),
  }
}
