import { Argument, type Command, type Option } from 'commander'
import type { ProgramContext } from './context.ts'
import { choiceOf } from './options.ts'
import { shellWord } from './print.ts'

const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript }
type Shell = keyof typeof scripts
const shells = Object.keys(scripts) as Shell[]

/** Prints a script that completes commands, options, and options with a fixed set of values. */
export function describeCompletion(program: Command, { stdout }: ProgramContext): void {
  program
    .command('completion')
    .description('print a completion script for a shell; see docs/commands.md')
    .addArgument(
      new Argument('<shell>', 'the shell')
        .choices(shells)
        .argParser((text) => choiceOf('the shell', text, shells)),
    )
    .action((shell: Shell) => void stdout.write(scripts[shell](levelsOf(program))))
}

type CommandLevel = {
  path: string
  commands: readonly Command[]
  options: readonly Option[]
  values: readonly string[]
}

function levelsOf(command: Command, path = ''): CommandLevel[] {
  const help = command.createHelp()
  const commands = help.visibleCommands(command).filter((child) => child.name() !== 'help')
  const values = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  const level = { path, commands, options: help.visibleOptions(command), values }
  return [level, ...commands.flatMap((child) => levelsOf(child, `${path} ${child.name()}`.trim()))]
}

function flagsOf({ short, long }: Option): string[] {
  return [short, long].filter((flag) => flag !== undefined)
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional
}

/** `after` is a command and one spelling of its option; `values` is empty if any value may follow. */
function valuesOf(levels: readonly CommandLevel[]): { after: string; values: readonly string[] }[] {
  return levels.flatMap(({ path, options }) =>
    options
      .filter(takesValue)
      .flatMap((option) =>
        flagsOf(option).map((flag) => ({ after: `${path} ${flag}`, values: option.argChoices ?? [] })),
      ),
  )
}

function pathPattern(levels: readonly CommandLevel[]): string {
  return levels
    .slice(1)
    .map(({ path }) => shellWord(path))
    .join('|')
}

function bashScript(levels: readonly CommandLevel[]): string {
  const words = ({ commands, options, values }: CommandLevel) =>
    [...commands.map((command) => command.name()), ...values, ...options.flatMap(flagsOf)].join(' ')
  return `# Completion of depositd for bash: source <(bin/depositd completion bash)
_depositd() {
  local word path= current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words=
  # Bash splits --option=value at the equals sign.
  if [[ $current == '=' ]]; then current=; elif [[ $previous == '=' ]]; then previous=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "\${path:+$path }$word" in
      ${pathPattern(levels)}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path $previous" in
${valuesOf(levels)
  .map(({ after, values }) => `    ${shellWord(after)}) words=${shellWord(values.join(' '))} ;;\n`)
  .join('')}    *) case "$path" in
${levels.map((level) => `      ${shellWord(level.path)}) words=${shellWord(words(level))} ;;\n`).join('')}    esac ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _depositd depositd
`
}

function zshScript(levels: readonly CommandLevel[]): string {
  const items = ({ commands, options, values }: CommandLevel) =>
    [
      ...commands.map((command) => zshItem(command.name(), command.description())),
      ...values.map((value) => zshItem(value, '')),
      ...options.flatMap((option) => flagsOf(option).map((flag) => zshItem(flag, option.description))),
    ].join(' ')
  return `#compdef depositd
# Completion of depositd for zsh: source <(bin/depositd completion zsh), after compinit
_depositd() {
  local word place=
  local -a items
  for word in \${words[2,CURRENT-1]}; do
    case "\${place:+$place }$word" in
      ${pathPattern(levels)}) place="\${place:+$place }$word" ;;
    esac
  done
  case "$place \${words[CURRENT-1]}" in
${valuesOf(levels)
  .map(({ after, values }) =>
    values.length === 0
      ? `    ${shellWord(after)}) _files; return ;;\n`
      : `    ${shellWord(after)}) compadd -- ${values.join(' ')}; return ;;\n`,
  )
  .join('')}  esac
  case "$place" in
${levels.map((level) => `    ${shellWord(level.path)}) items=(${items(level)}) ;;\n`).join('')}  esac
  _describe -o depositd items || _files
}
compdef _depositd depositd
`
}

function zshItem(name: string, description: string): string {
  return shellWord(`${name}:${description}`)
}

function fishScript(levels: readonly CommandLevel[]): string {
  const lines = levels.flatMap(({ path, commands, options, values }) => {
    const at = `complete -c depositd -n '__depositd_at "${path}"'`
    return [
      ...commands.map((command) => `${at} -f -a ${command.name()} -d ${fishQuoted(command.description())}`),
      ...values.map((value) => `${at} -f -a ${value}`),
      ...options.map((option) => `${at} ${fishOption(option)} -d ${fishQuoted(option.description)}`),
    ]
  })
  return `# Completion of depositd for fish: bin/depositd completion fish | source
set -g __depositd_paths ${levels
    .slice(1)
    .map(({ path }) => fishQuoted(path))
    .join(' ')}
function __depositd_at
    set -l place
    for word in (commandline -opc)[2..]
        contains -- (string join ' ' -- $place $word) $__depositd_paths; and set -a place $word
    end
    test "$place" = "$argv"
end
${lines.join('\n')}
`
}

function fishOption(option: Option): string {
  const { short, long, argChoices } = option
  const flags = [...(short ? [`-s ${short.slice(1)}`] : []), ...(long ? [`-l ${long.slice(2)}`] : [])]
  if (argChoices !== undefined) return `${flags.join(' ')} -x -a ${fishQuoted(argChoices.join(' '))}`
  return `${flags.join(' ')}${takesValue(option) ? ' -r' : ''}`
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`
}
