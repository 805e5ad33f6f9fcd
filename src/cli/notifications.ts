import { sendNotice } from '../app/notifications.ts'
import { testContent } from '../presentation/notice.ts'
import { attachedSettings, type Context } from './context.ts'
import { notFound } from './options.ts'
import { type News, print, type TableColumn, table } from './print.ts'

type TestOutcome = { channel: string; outcome: 'accepted' | 'failed'; problem: string | null }

/** Stores nothing. */
export async function testNotificationsCommand(context: Context, only?: string): Promise<News> {
  const settings = attachedSettings(context)
  const channels = (settings.notifications?.channels ?? []).filter(
    ({ name }) => only === undefined || name === only,
  )
  if (channels.length === 0) {
    const what = only === undefined ? 'a channel' : `the channel ${JSON.stringify(only)}`
    throw notFound(what, 'add it to notifications.channels of the settings file')
  }
  const outcomes = await Promise.all(
    channels.map(async ({ name }): Promise<TestOutcome> => {
      const problem = await sendNotice(settings, name, testContent(name))
      return { channel: name, outcome: problem === null ? 'accepted' : 'failed', problem }
    }),
  )
  print(context, outcomes, table(outcomes, columns))
  return outcomes.some(({ outcome }) => outcome === 'failed') ? 'bad' : 'good'
}

const columns: TableColumn<TestOutcome>[] = [
  { title: 'CHANNEL', value: ({ channel }) => channel },
  { title: 'OUTCOME', value: ({ outcome }) => outcome },
  { title: 'PROBLEM', value: ({ problem }) => problem ?? '' },
]
