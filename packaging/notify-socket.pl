# Runs a program with an open socket to systemd, in the place of this process: Node.js cannot open one. The unit can
# then have NotifyAccess=main. Without the socket the program starts a helper, which that setting does not admit.
use strict;
use warnings;
use Fcntl;
use Socket;

$^F = 255; # The socket stays open in the program.
my $path = $ENV{NOTIFY_SOCKET} // "";
$path =~ s/^@/\0/;
my $socket;
if (   socket($socket, AF_UNIX, SOCK_DGRAM, 0)
    && connect($socket, pack_sockaddr_un($path))
    && fcntl($socket, F_SETFL, O_NONBLOCK))
{
    $ENV{FLEETGATE_NOTIFY_FD} = fileno($socket);
    exec {$ARGV[0]} @ARGV;
}
delete $ENV{FLEETGATE_NOTIFY_FD};
exec {$ARGV[0]} @ARGV;
