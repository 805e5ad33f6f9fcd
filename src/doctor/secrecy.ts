import { readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Environment, secretsFolder } from '../config/environment.ts'
import { isLoopback, type LinkTarget, linkSettings, sharedLinks } from '../config/environment-settings.ts'
import { authSettingOf, type ServiceSettings, type Settings, urlSettingOf } from '../config/settings.ts'
import type { DoctorFinding } from '../presentation/doctor.ts'
import { type IsMade, ok, warning } from './finding.ts'

/**
 * Whether a third party could read the traffic or impersonate a server. Node's own verification was checked
 * with the settings.
 */
export function connectionFinding(settings: Settings, isMade: IsMade): DoctorFinding {
  const named = addressesOf(settings).filter(([name]) => name !== 'QUEUE_URL' || isMade(name))
  const open = named.filter(([, address]) => isOpen(address))
  if (open.length === 0) return ok('connections', 'all outbound connections use verified TLS')
  const shown = open.map(([name, address]) => `${name} (${new URL(address).host})`)
  return warning(
    'connections',
    `not encrypted, or not verified: ${[...new Set(shown)].join(', ')}`,
    'use https://, rediss://, and sslmode=verify-full for Postgres, or a private network: docs/security.md#connections',
  )
}

type OutboundAddress = readonly [setting: string, address: string]

function addressesOf(settings: Settings): OutboundAddress[] {
  const { databaseUrl, queueUrl, services, networks, tracing, canary } = settings
  return [
    ['DATABASE_URL', databaseUrl],
    ['QUEUE_URL', queueUrl],
    ...services.map(({ name, url }) => [urlSettingOf(name), url] as const),
    ...networks.flatMap(({ name, rpcUrls }) =>
      rpcUrls.map((address): OutboundAddress => [`RPC_${name.toUpperCase()}`, address]),
    ),
    ...(tracing === null ? [] : [['OTEL_EXPORTER_OTLP_ENDPOINT', tracing.url] as const]),
    ...(canary === null ? [] : [['canary.url', canary.url] as const]),
  ]
}

/** With these `sslmode`, pg verifies certificate and name. */
const verifying = ['verify-full', 'verify-ca', 'require', 'prefer']

function isOpen(address: string): boolean {
  const { protocol, hostname, searchParams } = new URL(address)
  if (protocol.startsWith('postgres')) return isOpenPostgres(hostname, searchParams)
  return protocol !== 'https:' && protocol !== 'rediss:' && !isLoopback(hostname)
}

/** Query parameters override the URL; the last of two with the same name counts. */
function isOpenPostgres(hostname: string, asked: URLSearchParams): boolean {
  const { host = decodeURIComponent(hostname), sslmode = '', uselibpqcompat } = Object.fromEntries(asked)
  // The folder of a socket, or empty.
  if (host === '' || host.startsWith('/') || isLoopback(host)) return false
  return uselibpqcompat === 'true' ? sslmode !== 'verify-full' : !verifying.includes(sslmode)
}

/** Alerts must link to pages that other people can open. */
export function linkFinding({ links }: Pick<Settings, 'links'>): DoctorFinding {
  const shared = sharedLinks(links)
  const targets = Object.keys(linkSettings) as LinkTarget[]
  const left = targets.filter((target) => shared[target] === null)
  if (left.length === 0)
    return ok('links', targets.map((target) => `${target}: ${shared[target]}`).join(', '))
  const reasons = left.map((target) => {
    const url = links[target]
    return `${linkSettings[target]} ${url === null ? 'is not set' : `is ${url}, which only this machine can open`}`
  })
  const names = left.map((target) => linkSettings[target]).join(', ')
  const says = `${reasons.join('; ')}: alerts have no link to the ${left.join(', ')}`
  return warning('links', says, `set ${names} to the address at which others open it: docs/settings.md#links`)
}

const secretFiles =
  /^(?:DATABASE_URL|QUEUE_URL|SERVICE_API_\w+|WEBHOOK_SECRETS\w*|OPS_TOKEN|LEDGER_KEY|EVENTS_KEY|SIGNING_KEY|DECISIONS_DATABASE_URL|OTEL_EXPORTER_OTLP_HEADERS|RPC_\w+)_FILE$/

/** Mounted into one container only, so the mode does not matter. */
const mounted = /^(?:\/var)?\/run\/secrets\//

/** Whether other users of this machine can read a file with a secret. */
export function secretFinding(
  environment: Environment,
  services: readonly Pick<ServiceSettings, 'name' | 'auth'>[] = [],
): DoctorFinding {
  const files = Object.entries(environment).filter(([name]) => secretFiles.test(name))
  const folder = environment[secretsFolder]
  if (folder !== undefined)
    for (const name of readdirSync(folder))
      if (secretFiles.test(`${name}_FILE`)) files.push([name, join(folder, name)])
  for (const { name, auth } of services)
    if (auth.proof.kind === 'token-file') files.push([`${authSettingOf(name)}.path`, auth.proof.path])
  const bare = files.flatMap(([name, path]) => (path !== undefined && isBare(path) ? [{ name, path }] : []))
  if (bare.length === 0) return ok('secrets', 'other users cannot read any file with a secret')
  const says = bare.map(({ name, path }) => `${name}: ${path} can be read by other users`).join('; ')
  return warning('secrets', says, `chmod o= ${bare.map(({ path }) => path).join(' ')}`)
}

/** False for a missing file, which is an error of the settings. */
function isBare(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats !== undefined && (stats.mode & 0o007) !== 0 && !mounted.test(realpathSync(path))
}
