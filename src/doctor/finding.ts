import { type Environment, embeddedFolder, isSet } from '../config/environment.ts'
import { lineOf } from '../core/errors.ts'
import { within } from '../jobs/within.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import { type Database, openDatabase } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'

export function ok(check: string, says: string): DoctorFinding {
  return { check, state: 'ok', says, fix: '' }
}

export function warning(check: string, says: string, fix: string): DoctorFinding {
  return { check, state: 'warning', says, fix }
}

export function fault(check: string, says: string, fix: string): DoctorFinding {
  return { check, state: 'fault', says, fix }
}

/** In at most two connections; each query waits no longer than any request. */
export function openExaminedDatabase(url: string): Database<Tables> {
  return openDatabase<Tables>({
    url,
    poolMax: 2,
    applicationName: 'depositd doctor',
    queryTimeoutMs: requestMaxMs,
  })
}

/** Each request is sent once. */
export const requestMaxMs = 5000
export const checkMaxMs = 10_000

/** If `ask` throws, returns a fault with the advice for that problem. */
export async function examined(
  check: string,
  advice: string | ((problem: string) => string),
  ask: () => Promise<DoctorFinding | readonly DoctorFinding[]>,
): Promise<readonly DoctorFinding[]> {
  try {
    return [await within(checkMaxMs, check, ask())].flat()
  } catch (error) {
    const says = lineOf(error)
    return [fault(check, says, typeof advice === 'string' ? advice : advice(says))]
  }
}

export type ServerSettingNames = { setting: string; credential: string }

/** Whether the user made a setting; embedded mode and defaults make others. */
export type IsMade = (name: string) => boolean

export function madeIn(environment: Environment): IsMade {
  return (name) => isSet(environment, name)
}

/** The HTTP status, as the clients of the service and of nodes report it. */
const answered = /(?:^(?:GET|POST) \S+: (\d{3})\b|\(HTTP (\d{3})\))/

const classOfStatus: Readonly<Record<number, FailureClass>> = {
  401: 'login',
  403: 'forbidden',
  404: 'path',
  408: 'timeout',
  429: 'limited',
}

/** The order matters: the text of a refused certificate also names hosts. */
const classOfText: readonly (readonly [RegExp, FailureClass])[] = [
  [/certificate|altnames|SSL|TLS|wrong version number/, 'tls'],
  [/ENOTFOUND|EAI_AGAIN/, 'dns'],
  // Node's fetch refuses some ports with these words.
  [/ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|bad port/, 'refused'],
  [/timeout|no (?:complete )?answer within|ETIMEDOUT/i, 'timeout'],
  [/password authentication failed|WRONGPASS|NOAUTH|role ".*" does not exist/, 'login'],
  [/database ".*" does not exist/, 'path'],
  [/(?:no|not) JSON|redirect|neither a result nor an error|lists no|not a list/, 'content'],
]

const advices = {
  dns: ({ setting }) => `correct the host name in ${setting}, or the DNS of this machine`,
  refused: ({ setting }) =>
    `start that server, or correct host and port in ${setting}; a firewall may block the connection`,
  tls: ({ setting }) =>
    `correct the certificate of that server, or the host name in ${setting}; for an authority of your own set NODE_EXTRA_CA_CERTS`,
  timeout: ({ setting }) =>
    `check the load of that server, and the firewall or proxy in between; or set a faster one in ${setting}`,
  login: ({ credential }) => `correct ${credential}`,
  forbidden: ({ credential }) =>
    `allow this request for ${credential}, or the address of this machine if that server has an allowlist`,
  path: ({ setting }) => `correct the path in ${setting}: the server answers, but does not have it`,
  limited: () => 'wait, or use a plan that allows more requests',
  broken: () => 'that server fails: contact its operator, and try again',
  content: ({ setting }) => `correct ${setting}: another program answers there`,
} satisfies Record<string, (names: ServerSettingNames) => string>

type FailureClass = keyof typeof advices

export function adviceFor(problem: string, names: ServerSettingNames): string {
  const found = classOf(problem)
  return found === null
    ? `see the result; correct ${names.setting} if it is another server`
    : advices[found](names)
}

function classOf(problem: string): FailureClass | null {
  const [, call, node] = answered.exec(problem) ?? []
  const status = Number(call ?? node ?? 0)
  if (status >= 500) return 'broken'
  if (status >= 400) return classOfStatus[status] ?? 'content'
  return classOfText.find(([pattern]) => pattern.test(problem))?.[1] ?? null
}

/** The setting that names the database, or the file of embedded mode, which starts it. */
export function databaseAsked(isMade: IsMade): ServerSettingNames {
  if (isMade('DATABASE_URL'))
    return { setting: 'DATABASE_URL', credential: 'the user and password in DATABASE_URL' }
  const file = `${embeddedFolder}/embedded.env`
  return { setting: `${file}, which "bin/depositd start" writes`, credential: file }
}
