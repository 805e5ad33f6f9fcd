import { z } from 'zod'
import { mismatchKinds } from '../core/mismatch.ts'
import { severities } from '../core/mismatches/kind-entry.ts'
import type { EnvironmentReader } from './environment.ts'
import { isLoopback } from './environment-settings.ts'

const mail = z.string().regex(/^[^\s@<>,;"]+@[^\s@<>,;"]+$/, 'must be an e-mail address')

/** What a channel gets: by default, all causes that are more than information. */
const selection = {
  severities: z.array(z.enum(severities)).min(1).default(['severe', 'warning']),
  /** By default all. */
  kinds: z
    .array(z.string().refine((kind) => Object.hasOwn(mismatchKinds, kind), 'must be a kind of mismatch'))
    .optional(),
  services: z.array(z.string()).optional(),
}

const channel = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('email'), to: z.array(mail).min(1), ...selection }),
  z.strictObject({ type: z.literal('slack'), ...selection }),
  z.strictObject({ type: z.literal('webhook'), ...selection }),
])

const channelName = /^[a-z][a-z0-9-]{0,30}$/

export const notificationsSection = z
  .strictObject({
    /** Sends the e-mails. */
    from: mail.optional(),
    /** In UTC. */
    digest: z
      .string()
      .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day in UTC, like 08:00')
      .nullable()
      .default('08:00'),
    channels: z.record(z.string(), channel).default({}),
    /** The addresses of people, by name. */
    people: z.record(z.string(), mail).default({}),
  })
  .prefault({})

type NotificationsSection = z.output<typeof notificationsSection>
type ChannelSection = NotificationsSection['channels'][string]

export type EmailTarget = { type: 'email'; smtpUrl: string; from: string; to: readonly string[] }

/** `url` and `secret` are secret. */
export type NotificationTarget =
  | EmailTarget
  | { type: 'slack'; url: string }
  | { type: 'webhook'; url: string; secret: string }

export type NotificationChannel = {
  name: string
  target: NotificationTarget
  severities: readonly string[]
  /** Null for all. */
  kinds: readonly string[] | null
  services: readonly string[] | null
}

export type NotificationSettings = {
  channels: readonly NotificationChannel[]
  people: readonly { person: string; target: EmailTarget }[]
  /** A time of day in UTC; null for none. */
  digest: string | null
}

/** Null if nothing is notified. */
export function readNotifications(
  reader: EnvironmentReader,
  section: NotificationsSection,
  services: readonly { name: string }[],
): NotificationSettings | null {
  const people = Object.entries(section.people)
  const channels = Object.entries(section.channels)
  const smtpUrl = readSmtpUrl(reader, section)
  if (people.length + channels.length === 0) return null
  const read: ChannelReader = { reader, smtpUrl, from: section.from ?? '' }
  for (const [name, one] of channels) refuseNames(reader, { name, one, services })
  return {
    channels: channels.map(([name, one]) => ({
      name,
      target: targetOf(read, name, one),
      severities: one.severities,
      kinds: one.kinds ?? null,
      services: one.services ?? null,
    })),
    people: people.map(([person, to]) => ({ person, target: emailTo(read, [to]) })),
    digest: section.digest,
  }
}

function readSmtpUrl(reader: EnvironmentReader, { from, channels, people }: NotificationsSection): string {
  const isNeeded =
    Object.keys(people).length > 0 || Object.values(channels).some(({ type }) => type === 'email')
  if (!isNeeded) {
    if (reader.optional('SMTP_URL') !== undefined)
      reader.faults.push('SMTP_URL is set, and notifications has no e-mail; unset it, or add a channel')
    return ''
  }
  if (from === undefined)
    reader.faults.push('DEPOSITD_CONFIG, notifications.from is missing: the address that sends e-mail')
  return reader.url('SMTP_URL', ['smtp', 'smtps'])
}

type NamedChannel = { name: string; one: ChannelSection; services: readonly { name: string }[] }

function refuseNames(reader: EnvironmentReader, { name, one, services }: NamedChannel): void {
  const place = `DEPOSITD_CONFIG, notifications.channels.${name}`
  // In the environment, NAME_FILE is the path of a file with NAME.
  if (!channelName.test(name) || name.endsWith('file'))
    reader.faults.push(
      `${place}: must be a name of lower-case letters, digits and hyphens that does not end in "file"`,
    )
  const known = services.map((service) => service.name)
  for (const service of one.services ?? [])
    if (!known.includes(service))
      reader.faults.push(`${place}.services: knows no service ${service}; use ${known.join(', ')}`)
}

type ChannelReader = { reader: EnvironmentReader; smtpUrl: string; from: string }

function targetOf(read: ChannelReader, name: string, one: ChannelSection): NotificationTarget {
  const { reader } = read
  const suffix = name.toUpperCase().replaceAll('-', '_')
  if (one.type === 'email') return emailTo(read, one.to)
  const url = readHookUrl(reader, `NOTIFICATION_URL_${suffix}`)
  if (one.type === 'slack') return { type: 'slack', url }
  return { type: 'webhook', url, secret: readHookSecret(reader, `NOTIFICATION_SECRET_${suffix}`) }
}

function emailTo({ smtpUrl, from }: ChannelReader, to: readonly string[]): EmailTarget {
  return { type: 'email', smtpUrl, from, to }
}

/** Every reader of the traffic could write to the channel. */
function readHookUrl(reader: EnvironmentReader, name: string): string {
  const text = reader.url(name, ['https', 'http'])
  const url = URL.parse(text)
  if (url?.protocol === 'http:' && !isLoopback(url.hostname))
    reader.faults.push(`${name} must begin with https://, except on this machine`)
  return text
}

function readHookSecret(reader: EnvironmentReader, name: string): string {
  const text = reader.text(name)
  // The fault does not repeat the text: it is a secret.
  if (text !== '' && !/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(text))
    reader.faults.push(`${name} must be whsec_ and at least 24 random bytes in Base64`)
  return text
}
