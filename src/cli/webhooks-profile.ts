import { Fault } from '../core/errors.ts'
import { listingIn } from '../provider/infer/infer-list.ts'
import { inferProfile } from '../provider/infer/infer-profile.ts'
import { type Trial, tryProfile } from '../provider/infer/try-profile.ts'
import { writeProfile } from '../provider/infer/write-profile.ts'
import { parseLossless } from '../provider/lossless-json.ts'
import { newestSamples } from '../store/samples.ts'
import { isPlace, readCaptures, readText, samplesMax } from './captures.ts'
import { type Context, withDatabase } from './context.ts'
import { knownService } from './known-service.ts'
import { type News, printJson } from './print.ts'

type ProfileOptions = { from: string; records?: string; json?: boolean }

/** Prints a profile to start from. It is bad news where the profile does not read all that it was made from. */
export async function profileCommand(context: Context, options: ProfileOptions): Promise<News> {
  const webhooks = jsonOf((await readCaptures(context, options.from)).map(({ body }) => body.toString()))
  const answers = await readAnswers(context, options)
  if (webhooks.parsed.length + answers.length === 0)
    throw new Fault('usage_bad', {
      problem: `there is nothing to read in ${options.from}`,
      mend: 'give captured webhooks by --from, or records by --records',
    })
  const { hints, vocabulary } = await knownService(context, isPlace(options.from))
  const draft = inferProfile({ payloads: webhooks.parsed, answers }, hints)
  const records = answers.flatMap((answer) => listingIn(answer)?.records ?? [answer])
  const bodies = { webhooks: webhooks.parsed.map(bodyOf), records: records.map(bodyOf) }
  const trial = tryProfile(writeProfile(draft, []), bodies, vocabulary)
  if (options.json === true) printJson(context, { ...draft, ...trial, notJson: webhooks.bad })
  else context.stdout.write(writeProfile(draft, headingOf(trial, webhooks.bad)))
  return trial.webhooks.unread + trial.records.unread === 0 ? 'good' : 'bad'
}

/** Records of a file: one document, or one on each line; without a file those of the polls, beside the inbox. */
async function readAnswers(context: Context, { from, records }: ProfileOptions): Promise<unknown[]> {
  if (records === undefined)
    return from === 'inbox' ? jsonOf(await withDatabase(context, polledRecords)).parsed : []
  const text = readText('records', records)
  const whole = jsonOf([text])
  const lines = whole.bad === 0 ? whole : jsonOf(text.split('\n').filter((line) => line.trim() !== ''))
  if (lines.bad === 0) return lines.parsed
  throw new Fault('usage_bad', {
    problem: `${records} is neither a JSON document nor lines of JSON`,
    mend: 'save an answer of the API as it came',
  })
}

const polledRecords = async (db: Parameters<typeof newestSamples>[0]) =>
  (await newestSamples(db, 'api', samplesMax)).map(({ body }) => body.toString())

function jsonOf(texts: readonly string[]): { parsed: unknown[]; bad: number } {
  const parsed: unknown[] = []
  for (const text of texts) {
    try {
      parsed.push(parseLossless(text))
    } catch (error) {
      // What is no JSON is counted, and tells nothing of the shape.
      if (!(error instanceof SyntaxError)) throw error
    }
  }
  return { parsed, bad: texts.length - parsed.length }
}

function bodyOf(document: unknown): Buffer {
  return Buffer.from(JSON.stringify(document))
}

function headingOf({ webhooks, records, problems }: Trial, notJson: number): string[] {
  return [
    `A profile to start from. It reads ${shareOf(webhooks, 'webhooks')} and ${shareOf(records, 'records')}.`,
    'What is marked as unsure was guessed: look at each, and at every word of status.',
    ...(notJson === 0 ? [] : [`${notJson} captured bodies are no JSON.`]),
    ...problems.map((problem) => `Not read: ${problem}`),
  ]
}

function shareOf({ read, ignored, unread }: Trial['webhooks'], what: string): string {
  const share = `${read + ignored} of ${read + ignored + unread} ${what}`
  return ignored === 0 ? share : `${share} (${ignored} passed over)`
}
