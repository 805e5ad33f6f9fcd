import { CommanderError } from 'commander'
import { codeOf, type FaultCode, fixOf, lineOf, problemOf } from '../core/errors.ts'
import type { ProgramContext } from './context.ts'
import { printJson } from './print.ts'
import { isReaderGone } from './process.ts'

/** docs/commands.md lists these. */
export const exitStatus = { fine: 0, badNews: 1, wrongUse: 2, notFound: 3, unavailable: 4 } as const

const statusOfFault: Readonly<Record<FaultCode, number>> = {
  amount_malformed: exitStatus.wrongUse,
  address_malformed: exitStatus.wrongUse,
  transaction_malformed: exitStatus.wrongUse,
  settings_bad: exitStatus.wrongUse,
  usage_bad: exitStatus.wrongUse,
  not_found: exitStatus.notFound,
  remote_failed: exitStatus.unavailable,
  schema_unknown: exitStatus.unavailable,
  rpc_disagreement: exitStatus.unavailable,
  lease_lost: exitStatus.unavailable,
  conflict: exitStatus.unavailable,
  history_lost: exitStatus.badNews,
  request_refused: exitStatus.badNews,
}

export function wantsJson({ arguments: words }: Pick<ProgramContext, 'arguments'>): boolean {
  return words.includes('--json')
}

/**
 * One line on standard error or, with `--json`, the only document on standard output.
 * @returns the exit status
 */
export function reportError(context: ProgramContext, error: unknown): number {
  if (isReaderGone(error)) return exitStatus.fine
  if (error instanceof CommanderError && error.exitCode === 0) return exitStatus.fine
  const isDebugged = context.arguments.includes('--debug') && error instanceof Error
  if (isDebugged) context.stderr.write(`depositd: ${error.stack}\n`)
  if (wantsJson(context)) printJson(context, { error: documentOf(error) })
  // Commander has already written its own line.
  else if (!isDebugged && !(error instanceof CommanderError))
    context.stderr.write(`depositd: ${lineOf(error)}\n`)
  return statusOf(error)
}

function statusOf(error: unknown): number {
  if (error instanceof CommanderError) return exitStatus.wrongUse
  const code = codeOf(error)
  return code === null ? exitStatus.badNews : statusOfFault[code]
}

/** `fix` is null if only the message is known. */
function documentOf(error: unknown): { code: string; message: string; fix: string | null } {
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, '').replaceAll(/\s*\n\s*/g, ' ')
    return { code: 'usage_bad', message, fix: 'see the options of the command with --help' }
  }
  return { code: codeOf(error) ?? 'internal_error', message: problemOf(error), fix: fixOf(error) }
}
