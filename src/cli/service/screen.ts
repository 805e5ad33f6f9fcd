import { assetCode } from '../../core/asset.ts'
import type { SandboxNetwork } from '../../sandbox/local-networks.ts'
import type { ServiceFiles } from '../../sandbox/service-files.ts'
import type { StartedPart } from '../../sandbox/started-part.ts'
import { showAddress } from '../../service/keyring/keyring.ts'
import type { ServiceDatabase } from '../../service/tables.ts'
import type { Context } from '../context.ts'
import { printJson } from '../print.ts'
import { partLine } from '../screen.ts'
import { watchEvents } from './watch-events.ts'

type RunningServiceInfo = {
  url: string
  /** Null if no faults are allowed. */
  faultsUrl: string | null
  networks: readonly SandboxNetwork[]
  keyFiles: ServiceFiles
  logFile: string
}

/** Output for an integrator who starts the service: its addresses, its inputs, and calls to try. */
export type ServiceScreen = {
  begin(place: { version: string; folder: string }): void
  part: (part: StartedPart) => void
  ready(place: RunningServiceInfo): void
  /** Shows each step of each deposit until it is stopped; null if nothing is shown. */
  watch(db: ServiceDatabase): { stop: () => Promise<void> } | null
  stopping(): void
  failedToStop(problem: string): void
  stopped(): void
}

/** With `json`, prints only one document, after the service is up. */
export function createServiceScreen(context: Context, json: boolean): ServiceScreen {
  const say = (line: string): void => {
    if (!json) context.stdout.write(`${line}\n`)
  }
  return {
    begin: ({ version, folder }) => say(`depositd ${version}: the deposit service; state in ${folder}/`),
    part: (part) => say(partLine(part)),
    ready: (place) => (json ? printJson(context, documentOf(place)) : linesOf(place).forEach(say)),
    watch: (db) => (json ? null : watchEvents({ db, say })),
    stopping: () => say('stopping'),
    failedToStop: (problem) => say(`while stopping: ${problem}`),
    stopped: () => say('stopped; the next start goes on from here'),
  }
}

function documentOf({ url, faultsUrl, networks, keyFiles, logFile }: RunningServiceInfo) {
  const shown = networks.map(({ name, rpcUrls, assets }) => ({
    name,
    rpc: rpcUrls[0],
    assets: assets.map(({ symbol, decimals, key }) => ({ symbol, decimals, contract: assetCode(key) })),
  }))
  return { url, faultsUrl, keyFiles, networks: shown, log: logFile, pid: process.pid }
}

function linesOf({ url, faultsUrl, networks, keyFiles, logFile }: RunningServiceInfo): string[] {
  const post = (path: string, body: object) =>
    `  ${withKey(keyFiles.write)} -H 'Content-Type: application/json' -d '${JSON.stringify(body)}' ${url}${path}`
  return [
    '\nAPI keys, one per file:',
    `  write  ${keyFiles.write}`,
    `  read   ${keyFiles.read}`,
    '\nAssets:',
    ...networks.map(assetLine),
    '\nTry it in another terminal:',
    post('/v1/channels', channel),
    post('/v1/stable-wallets', { id: 'savings' }),
    `  ${withKey(keyFiles.read)} ${url}/v1/proxies/deposits`,
    '\nThen pay a test deposit, in this folder, and read the deposits again:',
    '  bin/depositd service pay --network mainnet --asset USDT --amount 12.50 --to shop',
    ...faultLines(faultsUrl),
    `\nThe log is in ${logFile}. Ctrl-C stops everything; the next start goes on with the same data.\n`,
  ]
}

function withKey(path: string): string {
  return `curl -sS -H "X-API-KEY: $(cat ${quoted(path)})"`
}

function faultLines(url: string | null): string[] {
  if (url === null) return []
  const change = `curl -sS -X PATCH -H 'Content-Type: application/json' -d '{"dropWebhookRate":0.5}' ${url}`
  return ['\nHave it make errors; what there is to choose from:', `  curl -sS ${url}`, `  ${change}`]
}

const channel = {
  id: 'shop',
  forward_network: 'base',
  forward_asset: 'USDC',
  forward_recipient: '0x00000000000000000000000000000000000000ff',
}

function assetLine({ name, family, assets }: SandboxNetwork): string {
  const shown = assets.map(({ symbol, key }) => {
    const code = assetCode(key)
    return code === 'native' ? symbol : `${symbol} ${showAddress(family, code)}`
  })
  return `  ${name.padEnd(10)} ${shown.join('  ')}`
}

/** Quotes a path for a shell: a folder name may contain spaces. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`
}
