import { daemonEvents, type EventDeclaration, sandboxEvents, serviceEvents } from '../../src/log/log-event.ts'
import { markdownTable } from './markdown.ts'

const lists: readonly { head: string; about: string; events: Readonly<Record<string, EventDeclaration>> }[] =
  [
    { head: 'The daemon', about: 'Events of `bin/depositd start`.', events: daemonEvents },
    {
      head: 'The deposit service',
      about:
        'Events of `bin/depositd service`, and of the service in embedded mode, there with `"part":"service"`.',
      events: serviceEvents,
    },
    {
      head: 'Local chains and the demonstration',
      about: 'Events of embedded mode, and of `bin/depositd service` on local chains.',
      events: sandboxEvents,
    },
  ]

/** `docs/logs.md`: every event of the log, from the list that the program itself uses. */
export function logsPage(): string {
  return [
    `# Logs

The log is JSON, one document per line, on standard output; embedded mode writes to \`.depositd/depositd.log\`. Each line
has \`level\` (20 debug, 30 info, 40 warn, 50 error), \`time\` in milliseconds since 1970, \`event\`, the fields of the event,
and \`msg\`, a text for people. The names of events and fields are stable; the text may change.

\`LOG_LEVEL\` is the lowest level that is written. At \`info\`, the log grows with bookings and errors, never with the number
of requests: at most ten lines per second are written for refused webhooks, and for failed commits. At \`debug\`, each
webhook, inbox row and deposit has its own line.

If nothing reads standard output, the daemon continues: up to 4 MiB of lines are buffered and further lines are lost. A
process that is stopping waits for the reader for at most a few seconds.

## From a webhook to its journals

The correlation id is the row of the inbox that holds a webhook, as \`inbox/123\`. It appears in the lines about the commit
of the webhook, the application of the row, each deposit that was decided with it, and the journals of that deposit, even
if later evidence led to the journals:

\`\`\`sh
grep '"inbox/123"' depositd.log
\`\`\`

To find the row by the sender's id of the event, use \`webhook_stored\` (at \`debug\`). \`bin/depositd deposits show\` and the
console show the rows behind a deposit. [Traces](tracing.md) follow the same path with timings.

## What is left out

Bodies and headers of requests are never logged. For an error, the type, message, stack, code, details and causes are
logged, without other properties that a library attached; long texts are truncated. Every secret of the settings (keys,
webhook secrets, passwords, and keys in URLs) is replaced by \`[redacted]\` wherever it occurs in a line, in every encoding;
after a rotation, the old and the new one. Text that only looks like a secret is redacted too: users and passwords,
queries and long path segments of URLs, \`whsec_\` and \`whsk_\` secrets, and values of \`Authorization\`, \`X-API-KEY\` and
\`password\`. A secret shorter than six characters is recognised only by its form.
`,
    ...lists.flatMap(({ head, about, events }) => [
      `## ${head}\n`,
      `${about}\n`,
      markdownTable(['Event', 'Level', 'Text', 'Fields'], Object.entries(events).map(eventRow)),
    ]),
  ]
    .join('\n')
    .replace(/\n+$/, '\n')
}

function eventRow([name, { level, text, fields }]: [string, EventDeclaration]): string[] {
  const described = Object.entries(fields).map(([field, meaning]) => `\`${field}\`: ${meaning}`)
  return [`\`${name}\``, level, text, described.join('<br>')]
}
