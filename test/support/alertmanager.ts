import { z } from 'zod'
import { startMonitoring } from './monitoring-server.ts'

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
  send: (alerts: readonly { labels: Words; annotations?: Words; generatorURL?: string }[]) => Promise<void>
  alerts: () => Promise<HeldAlert[]>
  url: string
  stop: () => Promise<void>
}

/** A throwaway Alertmanager on a free loopback port, with the configuration of a file. Debian's name differs. */
export async function startAlertmanager(file: string): Promise<Alertmanager> {
  const { url, stop } = await startMonitoring('prometheus-alertmanager', ({ folder, address }) => [
    `--config.file=${file}`,
    `--storage.path=${folder}`,
    `--web.listen-address=${address}`,
    '--cluster.listen-address=',
    '--log.level=error',
  ])
  return { url, ...callsOf(`${url}/api/v2/alerts`), stop }
}

function callsOf(url: string): Omit<Alertmanager, 'stop' | 'url'> {
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
