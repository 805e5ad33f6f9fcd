import { join } from 'node:path'
import { embeddedFolder } from '../../config/environment.ts'
import { isFault, messageOf } from '../../core/errors.ts'
import type { StartedPart } from '../../sandbox/chains.ts'
import { freePort } from '../../sandbox/free-port.ts'
import { readServicePlace } from '../../sandbox/service-files.ts'
import { type Context } from '../context.ts'
import { wrongUse } from '../options.ts'
import { print } from '../print.ts'
import { untilSignal, version } from '../process.ts'
import { partLine } from '../screen.ts'
import { followEvents, runningDocument, runningText } from './screen.ts'
import type { ServicePorts, ServiceStartRequest } from './start-configured.ts'

type StartServiceOptions = { port?: number; faults?: boolean; adminPort?: number }

/** Unless it is in use or another is requested. */
const usualAdminPort = 18_081

/** Without settings, all dependencies run on this machine. Returns after the service was stopped. */
export async function startServiceCommand(context: Context, options: StartServiceOptions): Promise<void> {
  const asked = { ...(await readPorts(options)), faults: options.faults === true ? { seed: 'none' } : null }
  const { serviceNamesIn } = await import('../../config/service-settings.ts')
  const names = serviceNamesIn(context.environment)
  if (names.length === 0) await startInSandbox(context, asked)
  else await (await import('./start-configured.ts')).startOwnService(context, { ...asked, names })
}

async function startInSandbox(context: Context, asked: ServiceStartRequest): Promise<void> {
  const { readFrom } = await import('../../config/environment.ts')
  const { readLogLevel } = await import('../../config/environment-settings.ts')
  const { createLog } = await import('../../log/create-log.ts')
  const { startServiceAlone } = await import('../../sandbox/sandbox-service.ts')
  const logFile = join(embeddedFolder, 'service.log')
  const log = createLog({ level: readFrom(context.environment, readLogLevel), file: logFile })
  const say = (line: string): void => {
    if (!context.json) context.stdout.write(`${line}\n`)
  }
  say(`depositd ${version}: the deposit service; data in ${embeddedFolder}/`)
  const stopping = new AbortController()
  const signalled = untilSignal()
  void signalled.then(() => say('stopping'))
  void signalled.then(() => stopping.abort())
  const onPart = (part: StartedPart) => say(partLine(part))
  const starting = startServiceAlone({ ...asked, folder: embeddedFolder, log, onPart })
  const alone = await starting.catch(nameRunning)
  const { url, faultsUrl } = alone.service
  const running = { ...alone, url, faultsUrl, logFile }
  print(context, runningDocument(running), runningText(running))
  const { openServiceDatabase } = await import('../../service/service-database.ts')
  const place = { url: alone.databaseUrl, poolMax: 1, applicationName: 'depositd screen' }
  const db = await openServiceDatabase(place)
  if (!context.json) await followEvents(db, say, stopping.signal)
  await signalled
  await db.destroy()
  await alone.stop().catch((error: unknown) => say(`while stopping: ${messageOf(error)}`))
  say('stopped; the next start continues from here')
}

async function readPorts({ port, faults = false, adminPort }: StartServiceOptions): Promise<ServicePorts> {
  const asked = port === undefined ? {} : { port: await askedPort('port', port) }
  if (!faults) return asked
  return {
    ...asked,
    adminPort:
      adminPort === undefined ? await freePort(usualAdminPort) : await askedPort('admin-port', adminPort),
  }
}

/** A requested port is used or refused, never replaced. */
async function askedPort(name: string, port: number): Promise<number> {
  if ((await freePort(port)) === port) return port
  throw wrongUse(`port ${port} is taken`, `use another --${name}, or omit it to get a free one`)
}

/** A user who starts the service twice usually wants the address of the running one. */
function nameRunning(error: unknown): never {
  const place = readServicePlace(embeddedFolder)
  if (!isFault(error, 'usage_bad') || place === null) throw error
  const { problem, fix } = error.details
  const explained = `${problem}, with a deposit service at ${place.url}`
  throw wrongUse(explained, `use that, ${fix}`, { cause: error })
}
