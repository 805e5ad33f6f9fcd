import { createServer } from 'node:http'
import express from 'express'
import { Fault, messageOf } from '../core/errors.ts'
import type { Metrics } from './metrics.ts'
import { type Reading, showGauges } from './show-gauges.ts'

/** A part that has to work before requests should come here; asking throws where it does not. */
export type Check = { part: string; ask: () => Promise<void> }

/** What works and should not stay as it is. */
export type Warning = { part: string; problem: string }

export type OpsSettings = {
  host: string
  port: number
  metrics: Metrics
  read: () => Promise<Reading>
  checks: readonly Check[]
  warnings: () => readonly Warning[]
}

export type OpsServer = { url: string; stop: () => Promise<void> }

/**
 * Serves metrics and health. It listens on loopback unless told otherwise: what it shows is not for everyone.
 * @throws Fault `settings_bad` where the port cannot be had.
 */
export async function startOps({
  host,
  port,
  metrics,
  read,
  checks,
  warnings,
}: OpsSettings): Promise<OpsServer> {
  const app = express()
  app.disable('x-powered-by')
  app.get('/livez', (_request, response) => void response.type('text/plain').send('alive\n'))
  app.get('/readyz', async (_request, response) => {
    const unready = (await Promise.all(checks.map(problemOf))).filter((one) => one !== null)
    response
      .status(unready.length === 0 ? 200 : 503)
      .json({ ready: unready.length === 0, unready, warnings: warnings() })
  })
  app.get('/metrics', async (_request, response) => {
    try {
      showGauges(metrics, await read())
      response.type(metrics.registry.contentType).send(await metrics.registry.metrics())
    } catch (error) {
      response
        .status(503)
        .type('text/plain')
        .send(`${messageOf(error)}\n`)
    }
  })
  const server = createServer(app)
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      const fault = `OPS_PORT ${port} cannot be used (${messageOf(error)}); choose another`
      reject(new Fault('settings_bad', { faults: [fault] }, { cause: error }))
    })
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return {
    url: `http://${host}:${bound}`,
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

async function problemOf({ part, ask }: Check): Promise<Warning | null> {
  try {
    await ask()
    return null
  } catch (error) {
    return { part, problem: messageOf(error) }
  }
}
