import { createServer } from 'node:net'
import {
  type HttpBindAddress,
  type ServiceSettings,
  type Settings,
  webhookSecretsSetting,
  webhooksSettingOf,
} from '../config/settings.ts'
import { isFault, messageOf } from '../core/errors.ts'
import { transfersPath, transfersPathOf } from '../intake/server.ts'
import { openScheme } from '../intake/signature/create-scheme.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import { fault, ok, warning } from './finding.ts'

const answerMaxMs = 5000

type Port = { name: 'HTTP' | 'OPS'; listening: HttpBindAddress; path: string; answer: string }

/** Each port is free, or depositd already listens on it. */
export async function portFindings({ http, ops }: Settings): Promise<DoctorFinding[]> {
  if (http.port === ops.port) {
    const says = `HTTP_PORT and OPS_PORT are both ${ops.port}`
    return [fault('port ops', says, 'set OPS_PORT to another port')]
  }
  return Promise.all([
    portFinding({ name: 'HTTP', listening: http, path: transfersPath, answer: '{"status":"ready"}' }),
    portFinding({ name: 'OPS', listening: ops, path: '/livez', answer: 'alive' }),
  ])
}

async function portFinding(port: Port): Promise<DoctorFinding> {
  const check = `port ${port.name.toLowerCase()}`
  const { host, port: number } = port.listening
  const address = `${host}:${number}`
  const error = await tryToListen(port.listening)
  if (error === null) return ok(check, `${address} is free`)
  const code = 'code' in error ? error.code : ''
  const found = code === 'EADDRINUSE' ? await askPort(port) : 'other'
  if (found === 'depositd') return ok(check, `depositd answers on ${address}`)
  const look = `ss -ltnp 'sport = :${number}'`
  if (found === 'silent') {
    const says = `${address} is in use, and did not answer within ${answerMaxMs / 1000} s: a busy depositd, or another program`
    return warning(check, says, `find the program: ${look}`)
  }
  const fixes: Readonly<Record<string, string>> = {
    EADDRINUSE: `stop the program that listens there (${look}), or set ${port.name}_PORT to another port`,
    EACCES: `set ${port.name}_PORT to a port above 1023`,
  }
  const taken = `another program listens on ${address}`
  const says = code === 'EADDRINUSE' ? taken : `cannot listen on ${address}: ${messageOf(error)}`
  const fix = fixes[String(code)] ?? `set ${port.name}_HOST to an address of this machine`
  return fault(check, says, fix)
}

/** Null if the port is free. */
function tryToListen({ host, port }: HttpBindAddress): Promise<Error | null> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once('error', resolve)
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })
}

/** A busy daemon answers late, or with 503. */
async function askPort({
  listening: { host, port },
  path,
  answer,
}: Port): Promise<'depositd' | 'silent' | 'other'> {
  const everywhere: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }
  try {
    const response = await fetch(`http://${everywhere[host] ?? host}:${port}${path}`, {
      redirect: 'error',
      // A kept-alive connection to a server that has ended would look like another program.
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(answerMaxMs),
    })
    if ((await response.text()).trim() === answer) return 'depositd'
    return response.status === 503 ? 'silent' : 'other'
  } catch (error) {
    return error instanceof DOMException && error.name === 'TimeoutError' ? 'silent' : 'other'
  }
}

const check = 'webhooks'
const soonMs = 7 * 86_400_000

export function webhookFindings(
  { name, webhooks: { signing, keys } }: Pick<ServiceSettings, 'name' | 'webhooks'>,
  now: Date,
): DoctorFinding[] {
  if (signing.scheme === 'none') {
    const says = 'not signed: every sender that reaches the port is accepted'
    const fix = `set ${webhooksSettingOf(name)}.scheme; bin/depositd webhooks detect finds it from captured deliveries`
    return [warning(check, says, fix)]
  }
  try {
    openScheme(signing, keys, now)
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    const fix = 'set the secret or key as the service shows it (docs/webhooks.md)'
    return error.details.faults.map((says) => fault(check, says, fix))
  }
  const end = endOf(keys.secrets)
  if (end !== null && end.getTime() - now.getTime() < soonMs) {
    const says = `the last secret expires at ${end.toISOString()}`
    const fix = `add the new secret first in ${webhookSecretsSetting(name)} before the old one expires`
    return [warning(check, says, fix)]
  }
  const signed = 'publicUrl' in signing ? `, sent to ${signing.publicUrl}${transfersPathOf(name)}` : ''
  return [ok(check, `verified by ${signing.scheme}${signed}`)]
}

/** When the last secret expires; null if there are none, or one never expires. */
function endOf(secrets: ServiceSettings['webhooks']['keys']['secrets']): Date | null {
  const ends = secrets.map(({ notAfter }) => notAfter)
  const dated = ends.filter((end) => end !== null)
  if (dated.length < ends.length || dated.length === 0) return null
  return new Date(Math.max(...dated.map((end) => end.getTime())))
}
