import express from 'express'
import type { Logger } from 'pino'
import { type HttpServer, startHttpServer } from '../http/server.ts'
import { serverLimits } from '../http/server-limits.ts'
import { logEvent } from '../log/log-event.ts'
import { addCheckpoint, newestText, type WitnessSettings } from './witness.ts'

/** A checkpoint with a proof and sixteen signatures is shorter. */
const bodyMax = 64 * 1024

/** `POST /add-checkpoint` of c2sp.org/tlog-witness, and `GET /checkpoints`: the newest confirmed one of each log. */
export function serveWitness(
  settings: WitnessSettings & { host: string; port: number; log: Logger },
): Promise<HttpServer> {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.post(
    '/add-checkpoint',
    express.raw({ limit: bodyMax, type: () => true, inflate: false }),
    (request, response) => {
      const body = Buffer.isBuffer(request.body) ? request.body.toString() : ''
      const { status, text, type = 'text/plain', refusal } = addCheckpoint(settings, body)
      if (refusal !== undefined) logEvent(settings.log, 'witness_refused', refusal)
      response.status(status).setHeader('content-type', type).end(text)
    },
  )
  app.get('/checkpoints', (_request, response) => {
    const texts = settings.logs.map(({ name }) => newestText(settings.folder, name) ?? '')
    response.set('content-type', 'text/plain; charset=utf-8').end(texts.join(''))
  })
  const limits = { ...serverLimits, connectionsMax: 256, connectionsPerSourceMax: 128 }
  return startHttpServer(app, { host: settings.host, port: settings.port, limits, drainMs: 5000 })
}
