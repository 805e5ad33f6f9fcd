import type { Settings } from '../../config/settings.ts'
import { isFault, lineOf } from '../../core/errors.ts'
import { type QueueEvent } from '../../jobs/queue/bullmq.ts'
import { createQueue, queueLimits } from '../../jobs/queue/queue.ts'
import {
  lookAtQueueSchema,
  type QueueSchemaLook,
  schemaProblem,
  schemaWarning,
} from '../../jobs/queue/schema.ts'
import { createDepositClient } from '../../provider/deposit-client.ts'
import type { Profile } from '../../provider/profile/profile-schema.ts'
import { createServiceCall, type KeyScope, probeScope } from '../../provider/service-call.ts'
import {
  adviceFor,
  type DoctorFinding,
  examined,
  fault,
  type IsMade,
  ok,
  requestMaxMs,
  warning,
} from './finding.ts'

const keepAll =
  'at the server: redis-cli config set maxmemory-policy noeviction, and the same in its configuration'

/** Checks that wake-ups can be sent and that the server does not drop them. */
export async function queueFindings(
  { queueUrl: url }: Settings,
  isMade: IsMade,
): Promise<readonly DoctorFinding[]> {
  const check = 'queue'
  const queueFix = (problem: string) =>
    isMade('QUEUE_URL')
      ? adviceFor(problem, { setting: 'QUEUE_URL', credential: 'the user and password in QUEUE_URL' })
      : 'fix what the check database says: QUEUE_URL is not set, so that the queue is in the database'
  const events: QueueEvent[] = []
  return examined(check, queueFix, async () => {
    try {
      const report = (event: QueueEvent) => void events.push(event)
      const schema = url.startsWith('postgres') ? schemaFinding(await lookAtQueueSchema(url)) : null
      if (schema !== null) return schema
      const queue = await createQueue({ url, name: 'depositd', limits: queueLimits, report })
      try {
        const { waiting, active } = await queue.counts()
        if (events.some(({ kind }) => kind === 'eviction_policy_unknown'))
          return warning(check, { says: 'answers, and does not tell its maxmemory-policy', fix: keepAll })
        return ok(check, `answers: ${waiting} jobs wait, ${active} run`)
      } finally {
        await queue.stop()
      }
    } catch (error) {
      if (!isFault(error, 'settings_bad')) throw error
      const isEviction = lineOf(error).includes('maxmemory-policy')
      return fault(check, { says: lineOf(error), fix: isEviction ? keepAll : queueFix(lineOf(error)) })
    }
  })
}

/** Null if the queue can use the schema as it is. */
function schemaFinding({ schema, mayMake }: QueueSchemaLook): DoctorFinding | null {
  const says = schemaProblem(schema) ?? schemaWarning(schema)
  if (says === null) return null
  if (schema.kind === 'unusable') return fault('queue', { says, fix: newerVersion })
  if (schemaProblem(schema) === null) return warning('queue', { says, fix: newerVersion })
  return mayMake
    ? warning('queue', {
        says,
        fix: 'bin/depositd migrate; a start does it, too, and so does a running worker',
      })
    : fault('queue', { says, fix: 'bin/depositd migrate, with the DATABASE_URL of the owner' })
}

const newerVersion = 'replace this version by the newer one, too'

const serviceFix = (problem: string) =>
  adviceFor(problem, { setting: 'SERVICE_URL', credential: 'SERVICE_API_KEY' })

/** Checks that the service lists deposits that the profile can read, and what the key may do. */
export async function serviceFindings(
  { service }: Settings,
  profile: Profile,
): Promise<readonly DoctorFinding[]> {
  const [found, scope] = await Promise.all([
    examined('service', serviceFix, async () => {
      const call = createServiceCall({ ...service, timeoutMs: requestMaxMs, attemptsMax: 1 })
      const client = createDepositClient({ url: service.url, call }, profile)
      const page = await client.listDeposits({ mark: null, since: null })
      return ok('service', `lists deposits: ${page?.records.length ?? 0} on the first page`)
    }),
    probeScope({ ...service, timeoutMs: requestMaxMs }, profile.owners.channels.create.path),
  ])
  return [...found, { check: 'key', ...scopeFindings[scope] }]
}

const scopeFindings: Record<KeyScope, Omit<DoctorFinding, 'check'>> = {
  read: { state: 'ok', says: 'may read and not create', fix: '' },
  write: {
    state: 'warning',
    says: 'may create',
    fix: 'give the daemon a key of scope read, and this one only to channels create and wallets create',
  },
  refused: {
    state: 'fault',
    says: 'SERVICE_API_KEY is refused: it is wrong or revoked',
    fix: 'make a key of scope read at the service, and set SERVICE_API_KEY to it',
  },
  unasked: {
    state: 'warning',
    says: 'what it may do is not known: the service did not answer',
    fix: 'mend what the check service says, and try again',
  },
  unknown: { state: 'ok', says: 'what it may do cannot be told without doing it', fix: '' },
}
