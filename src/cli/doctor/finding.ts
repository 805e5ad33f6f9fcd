import { lineOf } from '../../core/errors.ts'
import { within } from '../../jobs/within.ts'
import { embeddedFolder, type ProcessEnvironment } from '../context.ts'

/** `fix` is empty if all is well. */
export type DoctorFinding = { check: string; state: 'ok' | 'warning' | 'fault'; says: string; fix: string }

export function ok(check: string, says: string): DoctorFinding {
  return { check, state: 'ok', says, fix: '' }
}

type FindingDetail = Omit<DoctorFinding, 'state' | 'check'>

export function warning(check: string, trouble: FindingDetail): DoctorFinding {
  return { check, state: 'warning', ...trouble }
}

export function fault(check: string, trouble: FindingDetail): DoctorFinding {
  return { check, state: 'fault', ...trouble }
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
    return [fault(check, { says, fix: typeof advice === 'string' ? advice : advice(says) })]
  }
}

export type ServerSettingNames = { setting: string; credential: string }

/** Whether the user made a setting; embedded mode and defaults make others. */
export type IsMade = (name: string) => boolean

export function madeIn(environment: ProcessEnvironment): IsMade {
  return (name) => environment[name] !== undefined || environment[`${name}_FILE`] !== undefined
}

type FailureClass =
  | 'dns'
  | 'refused'
  | 'tls'
  | 'timeout'
  | 'login'
  | 'forbidden'
  | 'path'
  | 'limited'
  | 'broken'
  | 'content'

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

export function adviceFor(problem: string, { setting, credential }: ServerSettingNames): string {
  const texts: Readonly<Record<FailureClass, string>> = {
    dns: `correct the host name in ${setting}, or the DNS of this machine`,
    refused: `start that server, or correct host and port in ${setting}; a firewall may block the connection`,
    tls: `correct the certificate of that server, or the host name in ${setting}; for an authority of your own set NODE_EXTRA_CA_CERTS`,
    timeout: `check the load of that server, and the firewall or proxy in between, and try again`,
    login: `correct ${credential}`,
    forbidden: `allow this request for ${credential}, or the address of this machine if that server has an allowlist`,
    path: `correct the path in ${setting}: the server answers, but does not have it`,
    limited: 'wait, or use a plan that allows more requests',
    broken: `that server fails: contact its operator, and try again`,
    content: `correct ${setting}: another program answers there`,
  }
  const found = classOf(problem)
  return found === null ? `see the result; correct ${setting} if it is another server` : texts[found]
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
