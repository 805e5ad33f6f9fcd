import { join } from 'node:path'
import { Fault, isFault, messageOf } from '../core/errors.ts'
import { freePort } from '../sandbox/free-port.ts'
import { readServicePlace } from '../sandbox/service-files.ts'
import { type Context, embeddedFolder } from './context.ts'
import { wholeNumber } from './options.ts'
import { createServiceScreen } from './service-screen.ts'
import { untilSignal } from './signals.ts'
import { version } from './version.ts'

type StartOptions = { port?: string; json?: boolean }

/** Starts the deposit service with everything it needs; returns once it was stopped. */
export async function startServiceCommand(context: Context, options: StartOptions): Promise<void> {
  const port = await readPort(options.port)
  const { parseLogLevel } = await import('../config/settings.ts')
  const { createLog } = await import('./log.ts')
  const { startServiceAlone } = await import('../sandbox/service-alone.ts')
  const logFile = join(embeddedFolder, 'service.log')
  const log = createLog({ level: parseLogLevel(context.environment), file: logFile })
  const screen = createServiceScreen(context, options.json === true)
  screen.begin({ version, folder: embeddedFolder })
  const signalled = untilSignal()
  const starting = startServiceAlone({
    folder: embeddedFolder,
    faults: null,
    log,
    onPart: screen.part,
    ...(port === null ? {} : { port }),
  })
  void signalled.then(() => screen.stopping())
  const alone = await starting.catch(nameRunning)
  screen.ready({ ...alone, url: alone.service.url, logFile })
  await signalled
  await alone.stop().catch((error: unknown) => screen.failedToStop(messageOf(error)))
  screen.stopped()
}

/** A port that was asked for is taken or refused, never replaced. */
async function readPort(text: string | undefined): Promise<number | null> {
  if (text === undefined) return null
  const port = wholeNumber('port', text, { min: 1, max: 65_535 })
  if ((await freePort(port)) === port) return port
  throw new Fault('usage_bad', {
    problem: `port ${port} is taken`,
    mend: 'give another to --port, or leave it out to get a free one',
  })
}

/** Whoever starts it twice mostly wants the address of the one that runs. */
function nameRunning(error: unknown): never {
  const place = readServicePlace(embeddedFolder)
  if (!isFault(error, 'usage_bad') || place === null) throw error
  const { problem, mend } = error.details
  throw new Fault(
    'usage_bad',
    { problem: `${problem}, with a deposit service at ${place.url}`, mend: `use that, ${mend}` },
    { cause: error },
  )
}
