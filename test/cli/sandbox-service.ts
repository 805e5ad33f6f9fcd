import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DepositRecord } from '../../src/service/deposits/record.ts'
import { type EmbeddedProgram, spawnProgram } from '../support/embedded-program.ts'
import { depositd, type Spoken } from '../support/shell.ts'
import { until } from '../support/until.ts'

export type Channel = { id: string; addresses: { network: string; address: string }[] }

/** Where every channel of these tests forwards to, on Base. */
export const recipient = '0x00000000000000000000000000000000000000ff'

export const withinMs = 120_000

/** `bin/depositd service` as a process of its own, and what an integrator does with it. */
export type SandboxService = EmbeddedProgram & {
  url: string
  key(scope: 'read' | 'write'): Promise<string>
  channel(id: string): Promise<Channel>
  untilSettled(transaction: string): Promise<DepositRecord>
}

/** Starts it as a person would, and returns once it has said everything. */
export async function startSandbox(folder: string, ...words: string[]): Promise<SandboxService> {
  const program = spawnProgram(folder, ['service', ...words])
  await until(
    'the service is up',
    () => {
      if (program.output().includes('depositd: ')) throw new Error(program.output())
      return program.output().includes('Ctrl-C stops everything') || null
    },
    withinMs,
  )
  const url = /^ {2}service +(\S+)/m.exec(program.output())?.[1] ?? ''
  const key = async (scope: 'read' | 'write'): Promise<string> =>
    (await readFile(join(folder, `.depositd/${scope}-key`), 'utf8')).trim()
  return {
    ...program,
    url,
    key,
    channel: async (id) => makeChannel(url, await key('write'), id),
    untilSettled: async (transaction) => untilSettled(url, await key('read'), transaction),
  }
}

export async function makeChannel(url: string, key: string, id: string): Promise<Channel> {
  const rule = { id, forward_network: 'base', forward_asset: 'USDC', forward_recipient: recipient }
  const headers = { 'X-API-KEY': key, 'content-type': 'application/json' }
  const body = JSON.stringify(rule)
  return (await (await fetch(`${url}/v1/channels`, { method: 'POST', headers, body })).json()) as Channel
}

function untilSettled(url: string, key: string, transaction: string): Promise<DepositRecord> {
  const ask = async (): Promise<DepositRecord | null> => {
    const headers = { 'X-API-KEY': key }
    const answer = await fetch(`${url}/v1/proxies/deposits?transaction=${transaction}`, { headers })
    const { data } = (await answer.json()) as { data: DepositRecord[] }
    return data.find(({ status }) => status === 'settled') ?? null
  }
  return until('the deposit is settled', ask, withinMs)
}

export function addressOn(network: string, { addresses }: Channel): string {
  return addresses.find((one) => one.network === network)?.address ?? ''
}

/** `bin/depositd service pay` in the folder. */
export function pay(folder: string, payment: Record<string, string>, ...more: string[]): Promise<Spoken> {
  const options = Object.entries(payment).flatMap(([name, value]) => [`--${name}`, value])
  return depositd(['service', 'pay', ...options, ...more], { folder })
}
