import express, { type Express, type Request, type Response } from 'express'
import type { Logger } from 'pino'
import { isFault } from '../../core/errors.ts'
import type { ApiReply } from '../../http/problem.ts'
import { readJsonBody } from '../../http/read-request.ts'
import { startHttpServer } from '../../http/server.ts'
import { serverLimits } from '../../http/server-limits.ts'
import { logEvent } from '../../log/log-event.ts'
import { problemReply, refusal, replyTo } from '../http/problem.ts'
import { describeError } from '../running/requests.ts'
import { faultKnobs, faultTable } from './fault-table.ts'
import { type FaultSettings, type Faults, harmless } from './faults.ts'

type FaultServerParts = { faults: Faults; port: number; log: Logger }

export type FaultServer = { url: string; stop(): Promise<void> }

const loopback = '127.0.0.1'

/**
 * Serves on loopback, without a key: only this machine can reach the port. Pages of other sites in a local browser are
 * refused.
 */
export async function startFaultServer({ faults, port, log }: FaultServerParts): Promise<FaultServer> {
  const app = express().disable('x-powered-by').disable('etag').enable('strict routing')
  serve(app, faults, log)
  const limits = { ...serverLimits, connectionsMax: 100, connectionsPerSourceMax: 100 }
  const { url, stop } = await startHttpServer(app, { host: loopback, port, limits, drainMs: 0 })
  return { url: `${url}/faults`, stop }
}

function serve(app: Express, faults: Faults, log: Logger): void {
  const shown = () => ({ status: 200, body: showFaults(faults) })
  const change = async (request: Request, response: Response, rest: Partial<FaultSettings>) => {
    const changes = await readChanges(request, response)
    turn(faults, { ...rest, ...changes })
    logEvent(log, 'faults_switched', { faults: changes })
    return shown()
  }
  const { seed: _, ...untouched } = harmless
  app.get('/faults', answer(log, shown))
  app.patch(
    '/faults',
    answer(log, (request, response) => change(request, response, {})),
  )
  app.put(
    '/faults',
    answer(log, (request, response) => change(request, response, untouched)),
  )
  app.use(answer(log, refuseUnknown))
}

function showFaults(faults: Faults) {
  const settings = faults.current()
  return { settings, knobs: faultKnobs.map((name) => ({ name, rate: settings[name], ...faultTable[name] })) }
}

async function readChanges(request: Request, response: Response): Promise<Partial<FaultSettings>> {
  const body = await readJsonBody(request, response)
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw refusal('request_invalid', 'the body must be a JSON object of fault settings')
  }
  return body
}

function turn(faults: Faults, changes: Partial<FaultSettings>): void {
  try {
    faults.set(changes)
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    throw refusal('request_invalid', error.details.faults.join('; ').slice(0, 1000))
  }
}

function refuseUnknown(request: Request): ApiReply {
  if (request.path !== '/faults') return problemReply('not_found', 'this port serves only /faults')
  const headers = { allow: 'GET, PUT, PATCH' }
  return problemReply('method_not_allowed', '/faults accepts GET, PUT and PATCH', { headers })
}

type FaultHandler = (request: Request, response: Response) => ApiReply | Promise<ApiReply>

function answer(log: Logger, work: FaultHandler) {
  return async (request: Request, response: Response): Promise<void> => {
    const reply = await replyOf(log, async () => {
      refuseOtherSites(request)
      return work(request, response)
    })
    response.status(reply.status).set({ 'content-type': 'application/json; charset=utf-8', ...reply.headers })
    response.end(JSON.stringify(reply.body))
  }
}

/**
 * A page could use a DNS name that resolves to loopback (DNS rebinding), or a cross-site request, which carries its
 * origin.
 */
function refuseOtherSites(request: Request): void {
  const { host = '', origin, 'sec-fetch-site': site = 'none' } = request.headers
  const isOwnName = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/i.test(host)
  const isOwnPage = origin === undefined || origin === `http://${host}`
  if (isOwnName && isOwnPage && (site === 'none' || site === 'same-origin')) return
  throw refusal(
    'caller_refused',
    'call this port as 127.0.0.1 or localhost, not from a web page of another site',
  )
}

async function replyOf(log: Logger, work: () => Promise<ApiReply>): Promise<ApiReply> {
  try {
    return await work()
  } catch (error) {
    const reply = replyTo(error)
    if (reply !== null) return reply
    logEvent(log, 'fault_request_failed', { problem: describeError(error) })
    return problemReply('internal', 'internal error; the request can be sent again')
  }
}
