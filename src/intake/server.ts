import express, { type Express, type Request } from 'express'
import { Fault, messageOf } from '../core/errors.ts'
import { defaultService, type ServiceName } from '../core/evidence.ts'
import { createMatcher, createSourceReader } from '../http/client-address.ts'
import { startHttpServer } from '../http/server.ts'
import { serverLimits } from '../http/server-limits.ts'
import type { AdmissionDeps } from './admit-delivery.ts'
import { createBodyReader } from './read-body.ts'
import { type IntakeDeps, receiveTransfer, sendJson } from './receive-transfer.ts'

export type IntakeLimits = typeof intakeLimits

export const intakeLimits = {
  ...serverLimits,
  bodyBytesMax: 1024 * 1024,
  unfinishedBytesMax: 64 * 1024 * 1024,
  unfinishedBytesPerSourceMax: 32 * 1024 * 1024,
  connectionsMax: 4096,
  connectionsPerSourceMax: 1024,
  stopTimeoutMs: 5000,
}

export type IntakeServerOptions = Omit<IntakeDeps, 'readBody' | 'sourceOf'> & {
  port: number
  host: string
  limits: IntakeLimits
  /** Undefined if no service has this name. */
  admissionOf: (service: ServiceName) => AdmissionDeps | undefined
  /** Addresses, or networks such as `10.0.0.0/8`, whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[]
}

export type Intake = {
  /** Without a trailing slash and `transfersPath`. */
  url: string
  /** Lets active requests finish within the limit. */
  stop: () => Promise<void>
}

/** Of the default service. */
export const transfersPath = '/webhooks/transfers'

export function transfersPathOf(service: ServiceName): string {
  return service === defaultService ? transfersPath : `/webhooks/${service}/transfers`
}

/** @throws Fault `settings_bad` if the port is unavailable */
export async function startIntake(settings: IntakeServerOptions): Promise<Intake> {
  const { host, port, limits } = settings
  const isTrusted = createMatcher(settings.trustedProxies)
  const app = createApp({ ...settings, sourceOf: createSourceReader(isTrusted) })
  const listening = { host, port, limits, isTrusted, drainMs: limits.stopTimeoutMs }
  try {
    return await startHttpServer(app, listening)
  } catch (error) {
    throw new Fault('settings_bad', { faults: [portFault(port, host, error)] }, { cause: error })
  }
}

function createApp(settings: IntakeServerOptions & Pick<IntakeDeps, 'sourceOf'>): Express {
  const receive = receiveTransfer({ ...settings, readBody: createBodyReader(settings.limits) })
  const admittingOf = ({ params }: Request) =>
    settings.admissionOf((params.service ?? defaultService) as ServiceName)
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app
    .route([transfersPath, '/webhooks/:service/transfers'])
    .all((request, _response, next) => next(admittingOf(request) === undefined ? 'router' : undefined))
    .post((request, response) => {
      const admitting = admittingOf(request)
      return admitting && receive(admitting, request, response)
    })
    .get((_request, response) => sendJson(response, { status: 200, document: { status: 'ready' } }))
    .all((_request, response) =>
      sendJson(response, {
        status: 405,
        document: { code: 'method_not_allowed' },
        headers: { allow: 'GET, HEAD, POST' },
      }),
    )
  app.use((_request, response) => sendJson(response, { status: 404, document: { code: 'not_found' } }))
  return app
}

function portFault(port: number, host: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const problem = code === 'EADDRINUSE' ? 'is taken' : `cannot be opened (${messageOf(error)})`
  return `HTTP_PORT ${port} ${problem} on ${host}: stop what listens there, or set HTTP_PORT to another port`
}
