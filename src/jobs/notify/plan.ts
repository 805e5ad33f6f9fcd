import type { Transaction } from 'kysely'
import type { NotificationChannel, NotificationSettings } from '../../config/notifications.ts'
import { type AlertRules, causeWithinMs, type OpenCause, openCauses } from '../../core/cause.ts'
import { type CauseNotice, type NoticeStep, noticeSteps } from '../../core/notices.ts'
import { isSame, type PeopleRegister } from '../../people/register.ts'
import {
  causeContent,
  digestContent,
  type NoticeContent,
  type NoticeLinks,
  personalContent,
} from '../../presentation/notice.ts'
import { readCases } from '../../store/gauges.ts'
import { type PersonalNotice, readPersonalNotices } from '../../store/mismatches/personal-notices.ts'
import {
  appendMessages,
  forgetNotices,
  noteKeys,
  readNotices,
  saveNotices,
  type WrittenMessage,
} from '../../store/notifications.ts'
import type { Tables } from '../../store/tables.ts'

export type PlanDeps = {
  settings: NotificationSettings
  alerts: AlertRules
  links: NoticeLinks
  /** Who may approve. */
  register: (tx: Transaction<Tables>) => Promise<PeopleRegister>
}

type NoticeMessage = WrittenMessage & { content: NoticeContent }

/** Writes what people are to be notified of, in the transaction that notes that they are. */
export async function planMessages(tx: Transaction<Tables>, deps: PlanDeps, now: Date): Promise<void> {
  const causes = openCauses(await readCases(tx), deps.alerts, now)
  const noted = await readNotices(tx, earliestOf(causes, now))
  const messages = [
    ...(await planCauses(tx, { ...deps, causes, noted, now })),
    ...(await planDigests(tx, { ...deps, causes, noted, now })),
    ...(await planPersonal(tx, deps, now)),
  ]
  await appendMessages(tx, messages, now)
  await forgetNotices(tx, now)
}

const dayMs = 86_400_000

/** An ended cause that may have come back, or that a digest names, is not older. */
function earliestOf(causes: readonly OpenCause[], now: Date): Date {
  const firsts = causes.map(({ since }) => since.getTime() - causeWithinMs)
  return new Date(Math.min(now.getTime() - dayMs, ...firsts))
}

type CausePlan = Pick<PlanDeps, 'settings' | 'links'> & {
  causes: readonly OpenCause[]
  noted: readonly (CauseNotice & { channel: string })[]
  now: Date
}

async function planCauses(
  tx: Transaction<Tables>,
  { settings, links, causes, noted, now }: CausePlan,
): Promise<NoticeMessage[]> {
  const steps = settings.channels.flatMap((channel) => {
    const own = noted.filter((notice) => notice.channel === channel.name)
    const wanted = causes.filter((cause) => isFor(channel, cause))
    return noticeSteps(wanted, own, now).map((step) => ({ ...step, channel: channel.name }))
  })
  await saveNotices(tx, steps)
  return steps.flatMap((step) => messageOf(step, links))
}

function messageOf(step: NoticeStep & { channel: string }, links: NoticeLinks): NoticeMessage[] {
  if (step.says === 'unchanged') return []
  return [{ channel: step.channel, key: step.key, content: causeContent(step, step.says, links) }]
}

function isFor(
  { severities, kinds, services }: NotificationChannel,
  { severity, kind, service }: Pick<OpenCause, 'severity' | 'kind' | 'service'>,
): boolean {
  return severities.includes(severity) && isWanted(kinds, kind) && isWanted(services, service)
}

function isWanted(names: readonly string[] | null, name: string): boolean {
  return names === null || names.includes(name)
}

/** Once a day and channel. A day without news is noted too, so that its digest does not follow later. */
async function planDigests(
  tx: Transaction<Tables>,
  { settings: { digest, channels }, links, causes, noted, now }: CausePlan,
): Promise<NoticeMessage[]> {
  const day = now.toISOString().slice(0, 10)
  if (digest === null || now < new Date(`${day}T${digest}:00Z`)) return []
  const key = `digest/${day}`
  const due = await noteKeys(
    tx,
    channels.map(({ name }) => ({ channel: name, key })),
    now,
  )
  return channels.flatMap((channel) => {
    if (!due.some((one) => one.channel === channel.name)) return []
    const ended = noted.filter((one) => one.channel === channel.name && endedSince(one, now))
    const open = causes.filter((cause) => isFor(channel, cause))
    const content = digestContent(open, ended, { day, links })
    return content === null ? [] : [{ channel: channel.name, key, content }]
  })
}

function endedSince({ closedAt }: CauseNotice, now: Date): boolean {
  return closedAt !== null && now.getTime() - closedAt.getTime() < dayMs
}

/** One message for each person and topic. */
async function planPersonal(
  tx: Transaction<Tables>,
  { settings: { people }, links, register }: PlanDeps,
  now: Date,
): Promise<NoticeMessage[]> {
  if (people.length === 0) return []
  const news = await readPersonalNotices(
    tx,
    people.map(({ person }) => person),
    now,
  )
  const own = await withoutUnableApprovers(news, () => register(tx))
  const rows = own.map((one) => ({ ...one, channel: personalChannel(one.person) }))
  const due = await noteKeys(tx, rows, now)
  const fresh = rows.filter(({ channel, key }) =>
    due.some((one) => one.channel === channel && one.key === key),
  )
  return [...Map.groupBy(fresh, ({ channel, topic }) => `${channel} ${topic}`).values()].flatMap((some) =>
    some
      .slice(0, 1)
      .map(({ channel, topic, key }) => ({ channel, key, content: personalContent(topic, some, links) })),
  )
}

export function personalChannel(person: string): string {
  return `people/${person}`
}

async function withoutUnableApprovers(
  news: readonly PersonalNotice[],
  register: () => Promise<PeopleRegister>,
): Promise<readonly PersonalNotice[]> {
  if (!news.some(({ topic }) => topic === 'waiting')) return news
  const people = [...(await register()).people.values()]
  const approvers = people.filter(({ roles }) => roles.includes('approver'))
  return news.filter(
    ({ topic, person }) => topic !== 'waiting' || approvers.some((one) => isSame(one.person, person)),
  )
}
