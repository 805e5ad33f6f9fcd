-- Run once, by the postgres image, when the database is first made: the login of the daemon, and that of the commands with
-- which people decide. They own nothing; what they may do is granted to depositd_daemon and depositd_decider by the
-- migrations, which the owner runs. On a server that exists already, run it by hand with psql, and use these logins in the
-- place of the owner's.
\set password `cat /run/secrets/runner_password`
create role depositd_daemon nologin;
create role depositd_runner login password :'password' in role depositd_daemon;
\set password `cat /run/secrets/people_password`
create role depositd_decider nologin;
create role depositd_people login password :'password' in role depositd_decider;
