import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { bringUpToDate } from '../app/database.ts'
import { embeddedFolder, isSet, readFrom } from '../config/environment.ts'
import { readLogLevel, readStorageUrls } from '../config/environment-settings.ts'
import { redactorOf, secretsOf } from '../config/secrets-of.ts'
import type { Settings } from '../config/settings.ts'
import { Fault, messageOf } from '../core/errors.ts'
import { createLog } from '../log/create-log.ts'
import { createHidden } from '../log/hide-secrets.ts'
import { logEvent } from '../log/log-event.ts'
import { attachedEnvironment, type Context, explainUnreachable, unreadFile } from './context.ts'
import { choiceOf } from './options.ts'
import { print } from './print.ts'
import { untilSignal, version } from './process.ts'

type StartDaemonOptions = { roles: string; traffic: number }

const roleNames = ['http', 'worker', 'scheduler'] as const

/** Alone if `SERVICE_URL` is set, otherwise with all dependencies. Returns after the daemon was stopped. */
export async function start(context: Context, options: StartDaemonOptions): Promise<void> {
  const { environment } = context
  const roles = options.roles.split(',').map((text) => choiceOf('--roles', text, roleNames))
  const isAlone = isSet(environment, 'SERVICE_URL')
  if (!isAlone) refuseHalfSet(environment)
  await (isAlone ? startAlone(context, roles) : startEverything(context, options.traffic))
}

/** Embedded mode would silently ignore a named database or node. */
function refuseHalfSet(environment: Context['environment']): void {
  const names = Object.keys(environment).filter((name) =>
    /^(DATABASE_URL|QUEUE_URL|RPC_\w+)(_FILE)?$/.test(name),
  )
  if (names.length === 0) return
  throw new Fault('settings_bad', {
    faults: [`SERVICE_URL is not set, but ${names.join(', ')} is; set it, or unset them for embedded mode`],
  })
}

async function startAlone({ environment }: Context, roles: (typeof roleNames)[number][]): Promise<void> {
  const { createSettingsReader } = await import('../config/settings.ts')
  const readSettings = createSettingsReader(environment, (path) => readFileSync(path, 'utf8'))
  const settings = readSettings()
  const { startDaemon } = await import('../app/daemon.ts')
  const hiding = openDaemonLog(settings, readSettings)
  const { log } = hiding
  const daemon = await startDaemon(settings, { roles, version, environment, ...hiding })
  process.on('SIGHUP', daemon.reload)
  const signalled = untilSignal(['SIGINT', 'SIGTERM'])
  const { webhookUrl: webhooks, opsUrl: ops, apiUrl: api } = daemon
  logEvent(log, 'daemon_started', { webhooks, ops, api, roles, version })
  logEvent(log, 'daemon_stopping', { signal: await signalled })
  await daemon.stop()
  logEvent(log, 'daemon_stopped')
}

async function startEverything(context: Context, trafficSeconds: number): Promise<void> {
  const { createScreen, partLine, readyText } = await import('./screen.ts')
  const screen = createScreen(context.stdout)
  const logFile = join(embeddedFolder, 'depositd.log')
  const level = readFrom(context.environment, readLogLevel)
  screen.say(`depositd ${version}, with everything it needs on this machine; data in ${embeddedFolder}/`)
  const unread = unreadFile(context.environment)
  if (unread !== null) screen.say(unread)
  const signalled = untilSignal()
  const { startEmbedded } = await import('../app/embedded.ts')
  const hidden = createHidden()
  const starting = startEmbedded({
    folder: embeddedFolder,
    version,
    environment: context.environment,
    log: createLog({ level, file: logFile, hidden }),
    hidden,
    onPart: (part) => screen.say(partLine(part)),
    trafficEveryMs: trafficSeconds * 1000,
  })
  void signalled.then(() => screen.stop())
  const running = await starting
  screen.say(readyText(trafficSeconds, running.signInUrl, logFile))
  screen.watch(running.db)
  await signalled
  await running.stop().catch((error: unknown) => screen.say(`while stopping: ${messageOf(error)}`))
  screen.say('stopped; "npm start" continues from here')
}

type DaemonLog = { log: Logger; readSettings: () => Settings }

/** Redacts the secrets of the settings, including those reloaded later. */
export function openDaemonLog(settings: Settings, readSettings: () => Settings, file?: string): DaemonLog {
  const hidden = redactorOf(settings)
  return {
    log: createLog({ level: settings.logLevel, hidden, ...(file !== undefined && { file }) }),
    readSettings() {
      const read = readSettings()
      hidden.add(secretsOf(read))
      return read
    },
  }
}

export async function runMigrations(context: Context): Promise<void> {
  const place = readFrom(attachedEnvironment(context), readStorageUrls)
  const applied = await bringUpToDate(place).catch(explainUnreachable)
  const state = `the schema is ${applied.length === 0 ? 'already ' : ''}up to date\n`
  print(context, { applied }, `${applied.map((name) => `applied ${name}\n`).join('')}${state}`)
}
