import { createServer, type Server } from 'node:http'
import express, { type ErrorRequestHandler, type RequestHandler } from 'express'
import { Fault, messageOf } from '../core/errors.ts'
import type { Metrics } from './metrics.ts'
import { refuseOtherNames } from './own-names.ts'
import type { TellGauges } from './read-gauges.ts'
import { type Answer, createReadiness, type Readiness } from './readiness.ts'
import { serveMetrics } from './serve-metrics.ts'

export type OpsSettings = {
  host: string
  port: number
  metrics: Metrics
  /** Told of a request that failed by a fault of the program. */
  failed?: (path: string, error: unknown) => void
}

/** What there is to be shown once the daemon works. */
export type Shown = {
  read: TellGauges
  readiness: Readiness
  /** Pages for people. */
  console?: RequestHandler
}

export type OpsServer = {
  url: string
  /** Shows everything from now on. Before, the process tells that it is alive, what it counts, and that it is not ready. */
  open: (shown: Shown) => void
  /** Tells from now on that it is not ready, so that nobody sends anything here while it stops. */
  leave: () => void
  stop: () => Promise<void>
}

/**
 * Serves health, metrics and the console. It listens on loopback unless told otherwise: what it shows is not for
 * everyone.
 * @throws Fault `settings_bad` where the port cannot be had.
 */
export async function startOps({ host, port, metrics, failed }: OpsSettings): Promise<OpsServer> {
  let ask = asking(unready('start', 'the database is being brought up to date'))
  let read = nothingRead
  let pages = noPages

  const app = express()
  app.disable('x-powered-by')
  app.get('/livez', unkept, (_request, response) => void response.type('text/plain').send('alive\n'))
  app.use(refuseOtherNames(host))
  app.get('/readyz', unkept, async (_request, response) => {
    const answer = await ask()
    response.status(answer.ready ? 200 : 503).json(answer)
  })
  app.get('/metrics', serveMetrics({ metrics, read: () => read() }))
  app.use((request, response, next) => pages(request, response, next))
  app.use(answerFailure(failed))
  const server = createServer(app)
  await listen(server, { host, port })
  return {
    url: `http://${host}:${boundPort(server, port)}`,
    open(shown) {
      ask = createReadiness(shown.readiness)
      read = shown.read
      pages = shown.console ?? pages
    },
    leave() {
      ask = asking(unready('stop', 'the process is stopping'))
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

const nothingRead: TellGauges = () =>
  Promise.resolve({ live: null, totals: null, scorecard: null, queue: null })

const noPages: RequestHandler = (_request, _response, next) => next()

/** What went wrong is for the log: nobody who asks is told more than that it did. */
function answerFailure(failed: OpsSettings['failed']): ErrorRequestHandler {
  // Express tells those apart by it that they take four.
  // oxlint-disable-next-line max-params
  return (error, request, response, _next) => {
    failed?.(request.path, error)
    if (response.headersSent) response.destroy()
    else response.status(500).type('text/plain').send('the answer failed; the log says why\n')
  }
}

function asking(answer: Answer): () => Promise<Answer> {
  return () => Promise.resolve(answer)
}

function unready(part: string, problem: string): Answer {
  return { ready: false, unready: [{ part, problem }], warnings: [], fine: [] }
}

/** An answer about now is of no use later. */
const unkept: RequestHandler = (_request, response, next) => {
  response.set('cache-control', 'no-store')
  next()
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      const fault = `OPS_PORT ${port} cannot be used (${messageOf(error)}); choose another`
      reject(new Fault('settings_bad', { faults: [fault] }, { cause: error }))
    })
    server.listen(port, host, resolve)
  })
}

function boundPort(server: Server, port: number): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : port
}
