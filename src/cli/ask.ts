import { createInterface } from 'node:readline/promises'
import type { Context } from './context.ts'
import { wrongUse } from './options.ts'

type AskOptions = { yes?: boolean }

/**
 * The answer at the terminal; empty with `--yes`.
 * @throws Fault `usage_bad` without a terminal
 */
export async function askPerson(
  context: Context,
  question: string,
  { yes = false }: AskOptions,
): Promise<string> {
  if (yes) return ''
  if (!process.stdin.isTTY || context.json)
    throw wrongUse(`an answer is needed: ${question}`, 'run the command on a terminal, or with --yes')
  const asking = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return (await asking.question(`${question} `)).trim()
  } finally {
    asking.close()
  }
}

/** True with `--yes`. */
export async function isAgreed(
  context: Context,
  question: string,
  { yes = false }: AskOptions,
): Promise<boolean> {
  return yes || /^y(?:es)?$/i.test(await askPerson(context, `${question} [y/N]`, { yes }))
}
