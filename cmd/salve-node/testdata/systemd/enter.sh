# Run in namespaces of its own (mount, pid, net, uts, ipc, cgroup): $1 is the machine's folder, $2 the unit, and the
# words after them what becomes the first process. The root that it sees is made here, of read-only parts of this
# system's and of memory. Nothing else of this system is there to be changed: a systemd cleans up where it boots.
set -eu
machine=$1 unit=$2
shift 2
mount --make-rprivate /
root=$machine/systemd
mkdir "$root"
mount -t tmpfs -o mode=755 none "$root"
cd "$root"
mkdir -p usr etc proc sys dev run tmp var/log opt/azure/containers old etc/units/salve-node.service.d
mount --bind /usr usr
mount -o remount,bind,ro usr
for name in bin sbin lib lib64; do
	if [ -L /$name ]; then cp -P /$name .; elif [ -d /$name ]; then mkdir $name; mount --bind /$name $name; mount -o remount,bind,ro $name; fi
done
for name in passwd group nsswitch.conf ld.so.cache; do cp /etc/$name etc/ 2>/dev/null || true; done
echo 00000000000000000000000000000015 >etc/machine-id
mount -t proc -o nosuid,nodev,noexec none proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro none sys
mount -t cgroup2 none sys/fs/cgroup
for name in null zero random urandom tty; do touch dev/$name; mount --bind /dev/$name dev/$name; done
: >"$machine/console"; touch dev/console; mount --bind "$machine/console" dev/console
mount --bind "$machine" opt/azure/containers

# The only units that there are: this one, and what its dependencies are called.
cp "$unit" etc/units/salve-node.service
cp "$machine/test.conf" etc/units/salve-node.service.d/
for name in default sysinit basic shutdown network-online system; do
	printf '[Unit]\nDescription=Nothing\nDefaultDependencies=no\n' >etc/units/$name.target
done

pivot_root . old
cd /
umount -l /old
exec env -i container=salve-test PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_UNIT_PATH=/etc/units "$@"
