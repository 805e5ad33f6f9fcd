import { daemonEvents, type EventDeclaration, sandboxEvents, serviceEvents } from '../../src/log/events.ts'
import { markdownTable } from './markdown.ts'

const lists: readonly { head: string; about: string; events: Readonly<Record<string, EventDeclaration>> }[] =
  [
    { head: 'The daemon', about: 'What `bin/depositd start` tells.', events: daemonEvents },
    {
      head: 'The deposit service',
      about: 'What `bin/depositd service` tells, and the service of embedded mode, as `"part":"service"`.',
      events: serviceEvents,
    },
    {
      head: 'Local chains and the demonstration',
      about: 'What only embedded mode and `bin/depositd service` on local chains tell.',
      events: sandboxEvents,
    },
  ]

/** `docs/logs.md`: every event of the log, from the list that the program itself writes by. */
export function logsPage(): string {
  return [
    '# Logs\n',
    'The log is JSON, one document per line, on standard output; embedded mode writes `.depositd/depositd.log`. Each line',
    'has `level` (20 debug, 30 info, 40 warn, 50 error), `time` in milliseconds since 1970, `event`, the fields of the event,',
    'and `msg`, a text for people. The names of events and fields are stable; the text is not.',
    '',
    '`LOG_LEVEL` is the least level that is written. At `info` the log grows with what was booked and with what went wrong,',
    'never with what strangers send: refused webhooks have ten lines a second at the most, and so have commits that fail. At',
    '`debug` each webhook, row and deposit has its line.',
    '',
    'Where nobody reads standard output, work goes on: up to 4 MiB of lines wait, what comes beyond is lost, and a process',
    'that is asked to end waits for its reader no longer than a few seconds.',
    '',
    '## From a webhook to its journals\n',
    'The correlation id is the row of the inbox that holds a webhook, as `inbox/123`. It is in the lines about its commit, the',
    'application of the row, each deposit that was decided with it, and the journals of that deposit, also where later evidence',
    'led to them:',
    '',
    '```sh',
    `grep '"inbox/123"' depositd.log`,
    '```',
    '',
    'By the id that the sender gave the event, `webhook_stored` (at `debug`) tells the row; `bin/depositd deposits show` and',
    'the console tell the rows behind a deposit. [Traces](tracing.md) follow the same way with times.',
    '',
    '## What is left out\n',
    'Bodies and headers of requests are never logged. Of whatever was thrown, the type, message, stack, code, details and causes',
    'are; nothing else that a library hung on it, and of a long text only the beginning. In the whole line every secret of the',
    'settings is replaced by `[redacted]` (keys, webhook secrets, passwords and keys within addresses), in each form in which it',
    'may be written, and after a rotation the old and the new. So is what only looks like one: users and passwords, queries and',
    'long parts of the path in an address, `whsec_` and `whsk_` secrets, values of `Authorization`, `X-API-KEY` and `password`. A',
    'secret shorter than six characters is recognised only by its form.',
    '',
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
