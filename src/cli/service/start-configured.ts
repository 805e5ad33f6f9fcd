import { readFileSync } from 'node:fs'
import { readDecimals } from '../../chain/reader.ts'
import { rpcName } from '../../config/network-schema.ts'
import { secretsOfService } from '../../config/secrets-of.ts'
import { readServiceSettings, type ServiceConfig } from '../../config/service-settings.ts'
import type { NetworkSettings } from '../../core/asset.ts'
import { Fault, isFault } from '../../core/errors.ts'
import { learnDecimals } from '../../jobs/chain/pin-decimals.ts'
import { createLog } from '../../log/create-log.ts'
import { createHidden } from '../../log/hide-secrets.ts'
import { logEvent } from '../../log/log-event.ts'
import { liquidityAddresses } from '../../service/keyring/keyring.ts'
import { startService } from '../../service/service.ts'
import { type DepositServiceSettings, findFaults } from '../../service/settings.ts'
import type { Context } from '../context.ts'
import { wrongUse } from '../options.ts'
import { untilSignal, version } from '../process.ts'

export type ServicePorts = { port?: number; adminPort?: number }

export type ServiceStartRequest = ServicePorts & { faults: { seed: string } | null }

/** Returns after the service was stopped. */
export async function startOwnService(
  { environment }: Context,
  { names, ...asked }: ServiceStartRequest & { names: readonly string[] },
): Promise<void> {
  refuseHalfSet(names)
  const { config: stated, faults } = readServiceSettings(environment, (path) => readFileSync(path, 'utf8'))
  const config = faults.length > 0 ? stated : { ...stated, networks: await learnAll(stated.networks) }
  const settings = { ...settingsOf(config), ...asked }
  const all = [...new Set([...faults, ...findFaults(settings), ...seedFaults(config)])]
  if (all.length > 0) throw new Fault('settings_bad', { faults: all })
  const hidden = createHidden()
  hidden.add(secretsOfService(config))
  const log = createLog({ level: config.logLevel, hidden })
  const service = await startService(settings, { log }).catch((error) => explain(error, settings))
  const networks = config.networks.map(({ name }) => name)
  const place = { service: service.url, faults: service.faultsUrl, networks, version }
  const signalled = untilSignal()
  logEvent(log, 'service_started', { ...place, paysFrom: liquidityAddresses(config) })
  logEvent(log, 'service_stopping', { signal: await signalled })
  await service.stop()
  logEvent(log, 'service_stopped')
}

function learnAll(networks: readonly NetworkSettings[]): Promise<NetworkSettings[]> {
  return Promise.all(networks.map((network) => learnDecimals(network, readDecimals)))
}

/** A user who only sets a node may have meant the daemon, or local chains. */
function refuseHalfSet(names: readonly string[]): void {
  const plain = names.map((name) => name.replace(/_FILE$/, ''))
  if (plain.includes('SERVICE_DATABASE_URL') || plain.includes('SERVICE_SEED')) return
  const what = `SERVICE_DATABASE_URL and SERVICE_SEED are missing although ${names.join(', ')} is set`
  throw new Fault('settings_bad', {
    faults: [`${what}; set them, or unset the others to run on local chains`],
  })
}

const priceTimes = { everyMs: 10_000, staleAfterMs: 60_000 }
/** An EVM transaction that is in no block is then signed again, at a higher fee. */
const replaceAfterMs = 120_000

function settingsOf(config: ServiceConfig): DepositServiceSettings {
  const { file, tls, webhook, pricesUrl, databaseUrl, seed, host, port, networks } = config
  const { quotes, limits } = file
  return {
    databaseUrl,
    seed,
    host,
    port,
    networks,
    ...(tls === null ? {} : { tls }),
    rateLimit: { perSecond: limits.requestsPerSecond, burst: limits.requestsAtOnce },
    apiKeys: [],
    webhooks: webhook === null ? [] : [webhook],
    allowPrivateWebhooks: file.webhooks.allowPrivate,
    quotes: { ...quotes, source: pricesUrl === null ? null : { url: pricesUrl, ...priceTimes } },
    sweep: file.sweep.enabled ? { minimums: file.sweep.minimums } : null,
    replaceAfterMs,
    faults: null,
    pollEveryMs: file.pollEvery,
  }
}

function seedFaults({ seed }: ServiceConfig): readonly string[] {
  try {
    if (seed !== '') liquidityAddresses({ seed })
    return []
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    return error.details.faults.map((fault) => `SERVICE_SEED: ${fault}`)
  }
}

function explain(error: unknown, { host, port }: DepositServiceSettings): never {
  if (isFault(error, 'settings_bad')) {
    const faults = error.details.faults.map((fault) => `${fault}${settingOf(/^the RPC of (\w+) /, fault)}`)
    throw new Fault('settings_bad', { faults }, { cause: error })
  }
  if (isFault(error, 'remote_failed')) {
    const { what, problem } = error.details
    const explained = `${problem}${settingOf(/^reading (\w+)$/, what)}`
    throw new Fault('remote_failed', { what, problem: explained }, { cause: error })
  }
  const code = error instanceof Error && 'code' in error ? error.code : ''
  const reasons: Record<string, string> = {
    EADDRINUSE: `port ${port} is taken`,
    EACCES: `this user may not use port ${port}`,
    EADDRNOTAVAIL: `${host} is not an address of this machine`,
  }
  const problem = reasons[String(code)]
  if (problem === undefined) throw error
  throw wrongUse(problem, 'set SERVICE_HOST and SERVICE_PORT', { cause: error })
}

function settingOf(pattern: RegExp, text: string): string {
  const [, network] = pattern.exec(text) ?? []
  return network === undefined ? '' : `; check ${rpcName(network)}`
}
