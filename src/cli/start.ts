import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../core/errors.ts'
import { type Context, embeddedFolder } from './context.ts'
import { wholeNumber, wordOf } from './options.ts'
import { untilSignal } from './signals.ts'
import { version } from './version.ts'

type StartOptions = { roles: string; traffic: string }

const roleNames = ['http', 'worker', 'scheduler'] as const

/** Starts the daemon, alone where `SERVICE_URL` is set, else with everything it needs; returns once it was stopped. */
export async function start(context: Context, options: StartOptions): Promise<void> {
  const { environment } = context
  const trafficSeconds = wholeNumber('traffic', options.traffic, { min: 1, max: 3600 })
  const roles = options.roles.split(',').map((text) => wordOf('roles', text, roleNames))
  const isAlone = environment.SERVICE_URL !== undefined || environment.SERVICE_URL_FILE !== undefined
  await (isAlone ? startAlone(context, roles) : startEverything(context, trafficSeconds))
}

async function startAlone({ environment }: Context, roles: (typeof roleNames)[number][]): Promise<void> {
  const { parseSettings } = await import('../config/settings.ts')
  const settings = parseSettings(environment, (path) => readFileSync(path, 'utf8'))
  const { startDaemon } = await import('../app.ts')
  const { createLog } = await import('./log.ts')
  const log = createLog({ level: settings.logLevel })
  const daemon = await startDaemon(settings, { roles, host: '0.0.0.0', version, log })
  log.info({ webhooks: daemon.webhookUrl, ops: daemon.opsUrl, roles, version }, 'started')
  const signal = await untilSignal()
  log.info({ signal }, 'stopping')
  await daemon.stop()
  log.info('stopped')
}

async function startEverything(context: Context, trafficSeconds: number): Promise<void> {
  const { createScreen } = await import('./screen.ts')
  const screen = createScreen(context.stdout)
  const logFile = join(embeddedFolder, 'depositd.log')
  screen.say(`depositd ${version}, with everything it needs on this machine; state in ${embeddedFolder}/`)
  const signalled = untilSignal()
  const { startEmbedded } = await import('../embedded.ts')
  const { createLog } = await import('./log.ts')
  const starting = startEmbedded({
    folder: embeddedFolder,
    version,
    environment: context.environment,
    log: createLog({ level: context.environment.LOG_LEVEL ?? 'info', file: logFile }),
    onPart: screen.part,
    trafficEveryMs: trafficSeconds * 1000,
  })
  const running = await starting
  screen.ready({ trafficSeconds, logFile })
  const watching = screen.watch(running.db)
  await signalled
  watching.stop()
  screen.say('stopping')
  await running.stop().catch((error: unknown) => screen.say(`while stopping: ${messageOf(error)}`))
  screen.say('stopped; "npm start" goes on from here')
}
