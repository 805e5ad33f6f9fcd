import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { until } from './until.ts'

const heldAlerts = z.array(
  z.object({
    labels: z.record(z.string(), z.string()),
    receivers: z.array(z.object({ name: z.string() })),
    status: z.object({ state: z.string(), inhibitedBy: z.array(z.string()) }),
  }),
)

/** An alert by its labels, the receivers it goes to, and whether another one holds it back. */
type HeldAlert = z.output<typeof heldAlerts>[number]

type Words = Readonly<Record<string, string>>

export type Alertmanager = {
  send: (alerts: readonly { labels: Words; annotations?: Words }[]) => Promise<void>
  alerts: () => Promise<HeldAlert[]>
  stop: () => Promise<void>
}

/** A throwaway Alertmanager on a free loopback port, with the configuration of a file. Debian's name differs. */
export async function startAlertmanager(file: string): Promise<Alertmanager> {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-alertmanager-'))
  const url = `http://${loopback}:${await freePort()}`
  const words = [
    `--config.file=${file}`,
    `--storage.path=${folder}`,
    `--web.listen-address=${new URL(url).host}`,
    '--cluster.listen-address=',
    '--log.level=error',
  ]
  const server = spawn('prometheus-alertmanager', words, { stdio: ['ignore', 'ignore', 'inherit'] })
  const ended = once(server, 'exit')
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL')
    await ended
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await until('Alertmanager is ready', () => {
      if (server.exitCode !== null) throw new Error(`prometheus-alertmanager ended with ${server.exitCode}`)
      return isReady(url)
    })
  } catch (error) {
    await stop()
    throw error
  }
  return { ...callsOf(`${url}/api/v2/alerts`), stop }
}

async function isReady(url: string): Promise<true | null> {
  const response = await fetch(`${url}/-/ready`).catch(() => null)
  await response?.body?.cancel()
  return response?.ok === true || null
}

function callsOf(url: string): Omit<Alertmanager, 'stop'> {
  return {
    async send(alerts) {
      const body = JSON.stringify(alerts)
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      if (!response.ok) throw new Error(await response.text())
    },
    alerts: async () => heldAlerts.parse(await (await fetch(url)).json()),
  }
}
