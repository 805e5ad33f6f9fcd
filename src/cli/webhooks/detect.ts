import { isSet, readFrom } from '../../config/environment.ts'
import { readPublicUrl } from '../../config/environment-settings.ts'
import { webhookSecretsSetting } from '../../config/settings.ts'
import { parseSecrets, publicUrlSetting } from '../../config/webhook-settings.ts'
import { writeYaml } from '../../config/yaml-file.ts'
import { urlSignedHeader } from '../../intake/detect/candidates.ts'
import { type CapturedDelivery, detectScheme, toSection } from '../../intake/detect/detect-scheme.ts'
import type { Keys } from '../../intake/signature/scheme.ts'
import { requestLineOf } from '../../intake/signature/signed-scheme.ts'
import { attachedEnvironment, type Context } from '../context.ts'
import { readTextFile } from '../files.ts'
import { wrongUse } from '../options.ts'
import { AsWritten, type News, print, printJson } from '../print.ts'
import { type CaptureOptions, readCaptures, serviceNamed } from './captures.ts'

type KeyOptions = { secretFile?: string; publicKeys?: string; publicUrl?: string }
type DetectOptions = CaptureOptions & KeyOptions

/** Fewer captures may agree by chance in more than the scheme. */
const capturesMin = 3

/** Prints the section `webhooks`, never the secret. */
export async function detectCommand(
  context: Context,
  given: KeyOptions & { from: string; service?: string },
): Promise<News> {
  const options = { ...given, service: serviceNamed(context, given.service) }
  const keys = keysOf(context, options)
  const publicUrl = publicUrlOf(context, options)
  const captures = await readCaptures(context, options)
  const found = detectScheme(captures, keys, publicUrl)
  if (found.kind === 'none')
    return reportNone(context, captures, { from: options.from, hint: hintOf(captures, publicUrl) })
  const show = (settings: typeof found.settings) => toSection(settings, options.publicKeys ?? null)
  const section = show(found.settings)
  const counts = { captures: captures.length, verified: found.verified.length, late: found.late }
  const alike = found.alike.map(show)
  const document = { webhooks: new AsWritten(section), ...counts, alike: new AsWritten(alike) }
  print(context, document, `${remarks({ ...counts, alike }).join('')}${writeYaml({ webhooks: section })}`)
  return 'good'
}

function keysOf(context: Context, options: DetectOptions): Keys {
  const { publicKeys } = options
  const secrets = secretsOf(context, options)
  if (secrets.length === 0 && publicKeys === undefined)
    throw wrongUse(
      'no secret given',
      `use --secret-file or --public-keys, or set ${webhookSecretsSetting(options.service)}`,
    )
  return { secrets, publicKeys: publicKeys === undefined ? null : readTextFile('--public-keys', publicKeys) }
}

/** Those of the option or, if there are no public keys, those of the daemon. */
function secretsOf(context: Context, { secretFile, publicKeys, service }: DetectOptions): Keys['secrets'] {
  const name = webhookSecretsSetting(service)
  return readFrom(publicKeys === undefined ? environmentOf(context, name) : {}, (reader) => {
    const text = secretFile === undefined ? reader.optional(name) : readTextFile('--secret-file', secretFile)
    return parseSecrets(text?.trim() ?? '', reader.faults)
  })
}

function publicUrlOf({ environment }: Context, { publicUrl }: DetectOptions): string | null {
  if (publicUrl === undefined) return readFrom(environment, readPublicUrl)
  const { data } = publicUrlSetting.safeParse(publicUrl)
  if (data !== undefined) return data
  throw wrongUse(
    '--public-url is no address without a login, a query or a section',
    'give it like https://deposits.example',
  )
}

function environmentOf(context: Context, name: string): Context['environment'] {
  const { environment } = context
  return isSet(environment, name) ? environment : attachedEnvironment(context)
}

type Document = {
  captures: number
  verified: number
  late: number
  alike: readonly Record<string, unknown>[]
}

function remarks({ captures, verified, late, alike }: Document): string[] {
  const said = [
    `Verifies ${verified} of ${captures} captured deliveries.`,
    ...(verified < capturesMin
      ? [`Fewer than ${capturesMin}: capture more and repeat before you rely on this.`]
      : []),
    ...(verified < captures
      ? ['The others were signed with another secret or in another way, or are not from the sender.']
      : []),
    ...(late > 0
      ? [`${late} arrived more than 5m after they were signed, or the clock is wrong: see "tolerance".`]
      : []),
    ...alike.map((section) => `Also verifies as many: ${JSON.stringify(section)}`),
  ]
  return said.map((line) => `# ${line}\n`)
}

/** What was not tried for lack of the public URL, or of the request line; empty if nothing. */
function hintOf(captures: readonly CapturedDelivery[], publicUrl: string | null): string {
  const header = captures.map(urlSignedHeader).find((name) => name !== null)
  const without = captures.filter((capture) => requestLineOf(capture)[':path'] === '').length
  if (without > 0)
    return `; deliveries without a path, for which no signature over it or the URL was tried: ${without}`
  if (publicUrl !== null) return ''
  return header === undefined
    ? '; a sender that signs the URL may need --public-url'
    : `; the sender of ${header} signs the URL: give it with --public-url`
}

type NoneFound = { from: string; hint: string }

function reportNone(
  context: Context,
  captures: readonly CapturedDelivery[],
  { from, hint }: NoneFound,
): News {
  const { length } = captures
  const problem =
    length === 0
      ? `${from} contains no captured deliveries`
      : `none of ${length} captured deliveries verifies with this secret by any known scheme${hint}`
  if (context.json) printJson(context, { webhooks: null, captures: length, verified: 0, late: 0, alike: [] })
  else context.stderr.write(`depositd: ${problem}\n`)
  return 'bad'
}
