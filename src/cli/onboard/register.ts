import { webhookSecretsSetting } from '../../config/settings.ts'
import { defaultService } from '../../core/evidence.ts'
import { transfersPathOf } from '../../intake/server.ts'
import { wrongUse } from '../options.ts'
import { type Session, sectionOf } from './session.ts'

/** The scheme that takes no webhook in, until the real one is known. */
export const capturing = { scheme: 'capture' }

/**
 * Writes the service into the settings file, paused and capturing. If the settings are then invalid, for example because
 * a secret is missing, the file stays as it was.
 */
export async function register(session: Session): Promise<void> {
  const { name, options, file, at, say } = session
  if (file.has([...at.service, 'paused']) || (name !== defaultService && file.has(at.service))) {
    say(`${name} is in the settings file already.`)
    session.service()
    return
  }
  const section = sectionToWrite(session)
  say(
    `Adds ${at.service.join('.')} to ${session.settingsPath}: paused, every webhook kept in the quarantine.`,
  )
  await session.agree('Write it?')
  for (const [key, value] of Object.entries(section)) file.set([...at.service, key], value)
  file.set(at.webhooks, capturing)
  const undo = file.save()
  try {
    session.service()
  } catch (error) {
    undo()
    throw error
  }
  say(`Webhooks of this service go to ${transfersPathOf(name)}; a running daemon follows within seconds.`)
  if (options.publicKeys === undefined && session.service().service.webhooks.keys.secrets.length === 0)
    say(`No webhook secret is set: put it into ${secretsSetting(session)} before the webhooks step.`)
}

export function secretsSetting({ name }: Pick<Session, 'name'>): string {
  return webhookSecretsSetting(name)
}

function sectionToWrite({ name, options }: Session): Record<string, unknown> {
  const secret = `SERVICE_API_${name.toUpperCase().replaceAll('-', '_')}_KEY`
  const auth = options.auth === undefined ? { secret } : sectionOf('--auth', options.auth)
  if (name === defaultService) return { ...(options.auth !== undefined && { auth }), paused: true }
  if (options.url === undefined)
    throw wrongUse(
      'the address of the service is missing',
      'give it with --url, like https://api.service.example',
    )
  return { url: options.url, auth, paused: true }
}
