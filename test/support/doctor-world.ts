import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { readKey } from '../service/fixtures.ts'
import { openApi } from '../service/http/open-api.ts'
import { type Ran, runCommand } from './command.ts'
import { type RawService, startRawService } from './raw-service.ts'

export const settingsText =
  'networks: [{ name: base, family: evm, chainId: 8453, assets: [{ symbol: ETH, contract: native, decimals: 18 }] }]'

export type Finding = { check: string; state: string; says: string; fix: string }

/** All that `doctor` looks at, and nothing wrong with it but what a test does to it. */
export type DoctorWorld = {
  environment: Record<string, string>
  folder: string
  run: (changes?: Record<string, string>, options?: string) => Promise<Ran>
  /** What one check says, in a line. */
  says: (check: string, changes?: Record<string, string>) => Promise<string[]>
}

export async function openDoctorWorld(
  databaseUrl: string,
  stack: AsyncDisposableStack,
): Promise<DoctorWorld> {
  const api = await openApi()
  stack.defer(() => api.close())
  const node = stack.use(await startNode())
  const folder = await mkdtemp(join(tmpdir(), 'depositd-doctor-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const path = join(folder, 'settings.yaml')
  await writeFile(path, settingsText)
  const environment = {
    DATABASE_URL: databaseUrl,
    SERVICE_URL: api.url,
    SERVICE_API_KEY: readKey,
    WEBHOOK_SECRETS: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    RPC_BASE: node.url,
    DEPOSITD_CONFIG: path,
    PUBLIC_URL: 'https://deposits.example',
    DASHBOARDS_URL: 'https://grafana.example',
    RUNBOOK_URL: 'https://docs.example/runbook.md',
    HTTP_HOST: loopback,
    HTTP_PORT: String(await freePort()),
    OPS_PORT: String(await freePort()),
  }
  const run = (changes: Record<string, string> = {}, options = '') =>
    runCommand(`doctor${options}`, { ...environment, ...changes })
  return {
    environment,
    folder,
    run,
    async says(check, changes = {}) {
      const { out } = await run(changes, ' --json')
      const found = (JSON.parse(out) as { checks: Finding[] }).checks.filter((one) => one.check === check)
      return found.map(({ state, says, fix }) => [state, says, fix].filter((one) => one !== '').join(' | '))
    },
  }
}

/** A node of a chain, Base unless told otherwise, all of whose tokens have six decimals. It knows of block 1. */
export function startNode(chainId = '0x2105', changes: Record<string, unknown> = {}): Promise<RawService> {
  const hash = `0x${'1'.padStart(64, '0')}`
  const block = { number: '0x1', hash, parentHash: hash, timestamp: '0x1', logsBloom: '0x', transactions: [] }
  const answers: Record<string, unknown> = {
    eth_chainId: chainId,
    eth_getBlockByNumber: block,
    eth_call: `0x${'6'.padStart(64, '0')}`,
    ...changes,
  }
  return startRawService((request, response) => {
    void text(request).then((body) => {
      const { id, method } = JSON.parse(body) as { id: number; method: string }
      response.writeHead(200, { 'content-type': 'application/json' })
      return response.end(JSON.stringify({ jsonrpc: '2.0', id, result: answers[method] ?? null }))
    })
  })
}
